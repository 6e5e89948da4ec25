import { CountersignError, isReservedName, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { CallContext, Executions } from "../calls/index.ts";
import {
  definitionDigest,
  type Form,
  flawOfName,
  type Parameters,
  readForm,
  readShape,
  refuseUnknown,
  type Shape,
  sameJson,
} from "../common/index.ts";
import type { Amendment, Host, LiveTool } from "../host.ts";
import type { CallRecord, Shown } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Approvers, type PrincipalInput, toPrincipal } from "../people/index.ts";
import { checkAsking } from "./asking-options.ts";
import { parseChanged } from "./changed-args.ts";
import { openGateCall } from "./gate-call.ts";
import { type GateOutcome, outcomeOf } from "./gate-outcome.ts";

/** How a gated function is described, asked about and run. */
export interface GateOptions<Args> {
  /** The app that its calls are listed under; functions may share one. `gate:<name>` if nothing is said. */
  readonly app?: string;
  readonly description?: string;
  /** Takes the place of an earlier definition: for functions that others describe, such as a server's tools. */
  readonly redefine?: boolean;
  /** The server that does the work, where that is not this program: shown, and bound to the approval. */
  readonly source?: string;
  /** What that server says of the function; bound to the approval. */
  readonly annotations?: JsonObject;
  readonly parameters?: Parameters<Args>;
  /** True, or a judgement on the arguments; one that throws means yes. */
  readonly requireConfirmation?: boolean | ((args: Args) => boolean | Promise<boolean>);
  readonly confirmationHint?: string | ((args: Args) => string);
  /** What an approval's payload must look like. */
  readonly confirmationPayload?: Parameters<unknown>;
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  readonly amendable?: true | readonly string[];
  /** Safe under concurrent calls with one key: may be run again after a crash. */
  readonly idempotent?: boolean;
  /** Changes nothing, so may be run again after a crash. */
  readonly readOnly?: boolean;
  /** JSON pointers to arguments that nobody but the function may see. */
  readonly secrets?: readonly string[];
  readonly onDenied?: "invoke";
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof GateOptions<unknown>>([
  "app",
  "description",
  "redefine",
  "source",
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

/** One use of a gated function: the same key again gives the same outcome. */
export interface GateUse {
  readonly key: string;
  readonly by: PrincipalInput;
}

/** A function behind the gate. The same key again gives the outcome of the same call. */
export type GatedFunction<Args, Result extends JsonValue | undefined> = (
  args: Args,
  use: GateUse,
) => Promise<GateOutcome<Result>>;

/** What runs once the call may run. It gets the arguments that were shown, and the context of the call. */
export type GateBody<Args, Result> = (args: Args, context: CallContext) => Promise<Result>;

/** A function behind the gate, and the tool as which the engine runs its calls. */
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
  const { name, options } = definition;
  if (name === "" || isReservedName(name)) {
    throw new CountersignError("reserved-name", `"${name}" cannot be the name of a gated function.`);
  }
  const flaw = flawOfName(name);
  if (flaw !== undefined)
    throw new CountersignError("invalid-option", `The name of a gated function ${flaw}.`);
  refuseUnknown("engine.gate", options, KNOWN_OPTIONS);
  checkAsking(`The gated function ${name}`, options);
  const shape = readShape(options.parameters);
  const form = readForm(options.confirmationPayload);
  const tool = liveTool(definition, { shape, form });
  const { app = `gate:${name}` } = options;
  const call: GatedFunction<Args, Result> = async (input, use) => {
    const parsed = await shape.parse(input);
    if (!parsed.ok) throw misfit(name, parsed);
    const { callId, claimed } = await openGateCall(engine.parts, {
      session: { app, user: "gate", id: use.key },
      tool: name,
      args: parsed.args,
      unparsed: parsed.unparsed,
      definitionDigest: tool.definitionDigest,
      secrets: options.secrets ?? [],
      repeatable: options.idempotent === true || options.readOnly === true,
      live: tool,
      by: toPrincipal(use.by),
      ...((await needsPerson(options, parsed.value))
        ? { shown: describe(definition, parsed.value, { shape, form }) }
        : {}),
    });
    if (claimed !== undefined) engine.executions.start(claimed);
    await engine.executions.settled(callId);
    return outcomeOf<Result>(await engine.parts.ledger.load({ call: callId }), toPrincipal(use.by));
  };
  return { app, tool, call };
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
        `The app ${this.app} has a gated function ${name} already.`,
      );
    }
    this.#tools.set(name, tool);
  }

  tool({ tool }: CallRecord): LiveTool | undefined {
    return this.#tools.get(tool);
  }
}

async function needsPerson<Args>(
  { requireConfirmation = false }: GateOptions<Args>,
  args: Args,
): Promise<boolean> {
  if (typeof requireConfirmation === "boolean") return requireConfirmation;
  try {
    // Anything but a plain `false`, from code that the compiler has not seen too, means yes.
    const answer: unknown = await requireConfirmation(args);
    return answer !== false;
  } catch {
    // A judgement that fails is no permission.
    return true;
  }
}

interface Described<Args> {
  readonly name: string;
  readonly options: GateOptions<Args>;
}

/** What was read from the schemas, once. */
interface Reading<Args> {
  readonly shape: Shape<Args>;
  readonly form: Form | undefined;
}

function describe<Args>(
  { name, options }: Described<Args>,
  args: Args,
  { shape, form }: Reading<Args>,
): Shown {
  const { confirmationHint: hint, amendable } = options;
  return {
    hint: (typeof hint === "function" ? hint(args) : hint) ?? `Approve execution of tool ${name}?`,
    why: ["requireConfirmation"],
    ...(options.source === undefined ? {} : { source: options.source }),
    ...(form === undefined ? {} : { schema: form.jsonSchema }),
    ...(amendable === undefined ? {} : { amendable }),
    ...(amendable === undefined || shape.jsonSchema === undefined ? {} : { argsSchema: shape.jsonSchema }),
  };
}

function liveTool<Args, Result extends JsonValue | undefined>(
  definition: Described<Args> & { readonly body: GateBody<Args, Result> },
  { shape, form }: Reading<Args>,
): LiveTool {
  const { name, options, body } = definition;
  const approvers = options.approvers ?? "requester";
  return {
    definitionDigest: definitionDigest({
      name,
      ...(options.description === undefined ? {} : { description: options.description }),
      ...(shape.jsonSchema === undefined ? {} : { parameters: shape.jsonSchema }),
      ...(options.annotations === undefined ? {} : { annotations: options.annotations }),
      ...(options.source === undefined ? {} : { server: options.source }),
    }),
    asking: {
      approvers,
      ...(options.expiresInMs === undefined ? {} : { expiresInMs: options.expiresInMs }),
      ...(options.onDenied === undefined ? {} : { onDenied: options.onDenied }),
    },
    showAgain: (call) => showAgain(definition, call, { shape, form }),
    ...(form === undefined ? {} : { readPayload: form.read }),
    amend: (call, { args }) => amend(shape, { call, args }, approvers),
    run: async (call, context) => body(await restore(shape, call), context),
  };
}

// Asked anew only if the new definition makes of the arguments exactly what was shown.
async function showAgain<Args>(
  definition: Described<Args>,
  call: CallRecord,
  reading: Reading<Args>,
): Promise<Shown | undefined> {
  const parsed = await reading.shape.parse(call.args);
  if (!parsed.ok || parsed.unparsed !== call.unparsed || !sameJson(parsed.args, call.args)) return undefined;
  const shown = describe(definition, parsed.value, reading);
  return { ...shown, why: [...shown.why, "the function changed after it was asked about"] };
}

// What was shown is what runs: JSON is not parsed again, or a default could change under an approval.
async function restore<Args>(shape: Shape<Args>, call: CallRecord): Promise<Args> {
  if (!call.unparsed) return call.args as Args;
  const parsed = await shape.parse(call.args);
  if (parsed.ok) return parsed.value;
  throw new CountersignError("arguments-mismatch", `The stored arguments no longer parse: ${parsed.message}`);
}

async function amend<Args>(
  shape: Shape<Args>,
  { call, args }: { readonly call: CallRecord; readonly args: JsonObject },
  approvers: Approvers,
): Promise<Amendment> {
  const parsed = await parseChanged(call, args, (changed) => shape.parse(changed));
  if (parsed.ok) return { ok: true, args: parsed.args, approvers };
  return { ok: false, code: "arguments-mismatch", field: parsed.field, message: parsed.message };
}

function misfit(
  name: string,
  { field, message }: { readonly field: string; readonly message: string },
): CountersignError {
  const place = field === "" ? "" : `${field}: `;
  return new CountersignError(
    "arguments-mismatch",
    `${name} cannot take these arguments: ${place}${message}`,
    {
      details: { field },
    },
  );
}
