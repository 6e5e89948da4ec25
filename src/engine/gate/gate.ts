import { CountersignError, isReservedName, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { CallContext, Executions } from "../calls/index.ts";
import { flawOfName, type Parameters, readForm, readShape, refuseUnknown } from "../common/index.ts";
import type { Host, LiveTool } from "../host.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import {
  type Approvers,
  askerOf,
  type Principal,
  type PrincipalInput,
  toPrincipal,
} from "../people/index.ts";
import { parseArguments, restoreArguments } from "./arguments.ts";
import { checkAsking } from "./asking-options.ts";
import { openGateCall } from "./gate-call.ts";
import { type GateOutcome, outcomeOf } from "./gate-outcome.ts";
import { type GateContext, type GatedTool, meets, toConfirmationRules } from "./gated-tool.ts";
import { type CallSubject, judge, rulesAt } from "./judge.ts";
import { toLiveTool } from "./live-tool.ts";
import { planUnder } from "./plan.ts";
import type { EntryPoint } from "./policy.ts";
import type { Ruling } from "./verdict.ts";

/** Options of a gated function. */
export interface GateOptions<Args> {
  /** The app that its calls are listed under; functions may share one. Default: `gate:<name>`. */
  readonly app?: string;
  /** The entry point that policies see. Default: `"gate"`. */
  readonly entryPoint?: EntryPoint;
  readonly description?: string;
  /** Replaces an earlier definition: for functions that others describe, such as a server's tools. */
  readonly redefine?: boolean;
  /** The server that does the work, if it is not this program: shown, matched by rules, and bound to the approval. */
  readonly source?: string;
  /** Where that server is: shown with it, and bound to the approval. */
  readonly place?: string;
  /** The server's annotations of the function; bound to the approval. */
  readonly annotations?: JsonObject;
  readonly parameters?: Parameters<Args>;
  /** True, or a function of the arguments; if it throws, a person is asked. */
  readonly requireConfirmation?: boolean | ((args: Args, context: GateContext) => boolean | Promise<boolean>);
  readonly confirmationHint?: string | ((args: Args) => string);
  /** What an approval's payload must look like. */
  readonly confirmationPayload?: Parameters<unknown>;
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  readonly amendable?: true | readonly string[];
  /** Safe to run again with the same key, even concurrently: may be repeated after a crash. */
  readonly idempotent?: boolean;
  /** Changes nothing, so it may be repeated after a crash. */
  readonly readOnly?: boolean;
  /** JSON pointers to arguments that only the function may see. */
  readonly secrets?: readonly string[];
  readonly onDenied?: "invoke";
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof GateOptions<unknown>>([
  "app",
  "entryPoint",
  "description",
  "redefine",
  "source",
  "place",
  "annotations",
  "parameters",
  "requireConfirmation",
  "confirmationHint",
  "confirmationPayload",
  "approvers",
  "expiresInMs",
  "amendable",
  "idempotent",
  "readOnly",
  "secrets",
  "onDenied",
]);

/** Who calls a gated function, and under which key: the same key gives the same outcome. */
export interface GateUse {
  readonly key: string;
  readonly by: PrincipalInput;
}

/** A function behind the gate. The same key gives the outcome of the same call. */
export interface GatedFunction<Args, Result extends JsonValue | undefined> {
  (args: Args, use: GateUse): Promise<GateOutcome<Result>>;
  /** The gate's ruling for such a call now. Nothing is asked, stored or run. */
  judge(args: Args, by: PrincipalInput): Promise<Ruling>;
}

/** The function that runs when the call may run. It gets the arguments that were shown, and the context of the call. */
export type GateBody<Args, Result> = (args: Args, context: CallContext) => Promise<Result>;

/** A function behind the gate, and the tool that the engine runs for it. */
export interface Gate<Args, Result extends JsonValue | undefined> {
  readonly app: string;
  readonly tool: LiveTool;
  readonly call: GatedFunction<Args, Result>;
}

/** The engine without an agent: any async function behind the same gate, ledger and guarantees. */
export function createGate<Args, Result extends JsonValue | undefined>(
  engine: { readonly parts: EngineParts; readonly executions: Executions },
  definition: {
    readonly name: string;
    readonly options: GateOptions<Args>;
    readonly body: GateBody<Args, Result>;
  },
): Gate<Args, Result> {
  const { name, options, body } = definition;
  checkOptions(name, options);
  const tool = toGatedTool(name, options);
  const rules = rulesAt(engine.parts, options.entryPoint ?? "gate");
  const live = toLiveTool(
    { rules, tool },
    {
      onDenied: options.onDenied,
      run: async (call, context) => body((await restoreArguments(tool, call)) as Args, context),
    },
  );
  const { app = `gate:${name}` } = options;
  const prepare = async (input: Args, key: string, by: Principal) => {
    // In plain JavaScript this may not be an object; the schema refuses it.
    const parsed = await parseArguments(tool, input as JsonObject);
    if (!parsed.ok) throw misfit(name, parsed);
    const gated = { tool, parsed, subject: subjectFor(app, key, by) };
    return { gated, parsed, ruling: await judge(rules, gated) };
  };
  const call = async (input: Args, use: GateUse): Promise<GateOutcome<Result>> => {
    const by = toPrincipal(use.by);
    const { gated, parsed, ruling } = await prepare(input, use.key, by);
    const { callId, claimed } = await openGateCall(engine.parts, {
      session: { app, user: "gate", id: use.key },
      tool,
      args: parsed.args,
      unparsed: parsed.unparsed,
      definitionDigest: live.definitionDigest,
      requesters: gated.subject.requesters,
      by,
      plan: await planUnder(ruling, { rules, call: gated }, { live }),
    });
    if (claimed !== undefined) engine.executions.start(claimed);
    await engine.executions.settled(callId);
    return outcomeOf<Result>(await engine.parts.ledger.load({ call: callId }), by);
  };
  const judgeCall = async (input: Args, by: PrincipalInput): Promise<Ruling> =>
    (await prepare(input, "", toPrincipal(by))).ruling;
  return { app, tool: live, call: Object.assign(call, { judge: judgeCall }) };
}

function checkOptions<Args>(name: string, options: GateOptions<Args>): void {
  if (name === "" || isReservedName(name)) {
    throw new CountersignError(
      "reserved-name",
      `"${name}" is a reserved name. Choose another name for the gated function.`,
    );
  }
  const flaw = flawOfName(name);
  if (flaw !== undefined)
    throw new CountersignError("invalid-option", `The name of a gated function ${flaw}.`);
  refuseUnknown("engine.gate", options, KNOWN_OPTIONS);
  checkAsking(`The gated function ${name}`, options);
}

function toGatedTool<Args>(name: string, options: GateOptions<Args>): GatedTool {
  const { description, annotations, source, place, secrets = [], entryPoint } = options;
  const shape = readShape(options.parameters);
  const { jsonSchema: parameters } = shape;
  return {
    name,
    ...(parameters === undefined ? {} : { parameters }),
    definition: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(source === undefined ? {} : { server: source }),
      ...(place === undefined ? {} : { place }),
    },
    confirmation: toConfirmationRules(options, readForm(options.confirmationPayload)),
    repeatable: options.idempotent === true || options.readOnly === true,
    secrets,
    ...(source === undefined ? {} : { source: place === undefined ? source : `${source} (${place})` }),
    parse: (args) => shape.parse(args),
    gates: async (args, context) =>
      (await meets(options.requireConfirmation, args as Args, context))
        ? [entryPoint === "mcp" ? "mcp" : "tool"]
        : [],
  };
}

function subjectFor(app: string, key: string, by: Principal): CallSubject {
  const { id, onBehalfOf } = by;
  const requesters = onBehalfOf === undefined ? [id] : [id, onBehalfOf];
  const user = onBehalfOf ?? id;
  return { app, agent: app, user, requesters, asker: askerOf(by), session: { id: key } };
}

/** The gated functions of one app, as the engine finds them. */
export class GateHost implements Host {
  readonly app: string;
  readonly #tools = new Map<string, LiveTool>();

  constructor(app: string) {
    this.app = app;
  }

  add(name: string, tool: LiveTool, redefine = false): void {
    if (this.#tools.has(name) && !redefine) {
      throw new CountersignError(
        "invalid-option",
        `The app ${this.app} already has a gated function ${name}.`,
      );
    }
    this.#tools.set(name, tool);
  }

  tool({ tool }: CallRecord): LiveTool | undefined {
    return this.#tools.get(tool);
  }
}

function misfit(
  name: string,
  { field, message }: { readonly field: string; readonly message: string },
): CountersignError {
  const place = field === "" ? "" : `${field}: `;
  return new CountersignError("arguments-mismatch", `Invalid arguments for ${name}: ${place}${message}`, {
    details: { field },
  });
}
