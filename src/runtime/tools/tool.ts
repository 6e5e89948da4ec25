import {
  type Approvers,
  type CardLayout,
  checkAsking,
  flawOfName,
  type GateContext,
  type GatedTool,
  meets,
  type Parameters,
  readForm,
  readShape,
  refuseUnknown,
  type Shape,
  type StandardSchema,
  toConfirmationRules,
} from "../../engine/index.ts";
import { CountersignError, isReservedName, type JsonObject } from "../../protocol/index.ts";
import type { ToolContext } from "./tool-context.ts";
import { fromZod3 } from "./zod3.ts";

/** For whom a call is about to run: used to choose a tool's credentials. */
export interface CredentialsContext extends GateContext {
  readonly signal: AbortSignal;
}

/** A tool of any kind, as the runtime uses it. Made by {@link tool}, a toolset or an ADK class. */
export interface Tool extends GatedTool {
  readonly description: string;
  readonly isLongRunning: boolean;
  /** Gets what the tool needs to act for somebody; called only for a call that may run. */
  credentials?(args: unknown, context: CredentialsContext): unknown;
  run(args: unknown, context: ToolContext): unknown;
}

/** Decides from the arguments whether a call needs a person. */
export type ConfirmationPredicate<Args> = (args: Args, context: GateContext) => boolean | Promise<boolean>;

/** A tool: what the model is told, when a person is asked, and what runs. */
export interface ToolOptions<Args, Payload, Credentials = unknown> {
  readonly name: string;
  readonly description: string;
  readonly parameters?: Parameters<Args>;
  /** True, or a function of the arguments; if it throws, a person is asked. */
  readonly requireConfirmation?: boolean | ConfirmationPredicate<Args>;
  readonly confirmationHint?: string | ((args: Args) => string);
  /** What an approval's payload must look like: types `ctx.toolConfirmation`, the form and the check. */
  readonly confirmationPayload?: Parameters<Payload>;
  /** How its card is laid out: approved by holding the button, or two arguments shown as a diff. */
  readonly confirmationLayout?: CardLayout;
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  /** Arguments that an approver may change. */
  readonly amendable?: true | readonly string[];
  /** Safe to run again with the same key, even concurrently: may be repeated after a crash. */
  readonly idempotent?: boolean;
  /** Changes nothing, so it may be repeated after a crash. */
  readonly readOnly?: boolean;
  readonly secrets?: readonly string[];
  readonly isLongRunning?: boolean;
  /**
   * Gets what the tool needs to act for somebody, such as an access token, as `ctx.credentials`. Called after the gate
   * and before the tool runs. Never stored. If it throws, the call fails without running.
   */
  readonly credentials?: (args: Args, context: CredentialsContext) => Credentials | Promise<Credentials>;
  /** Run the tool once more after a denial of its own question, to word the answer. */
  readonly onDenied?: "invoke";
  readonly execute: (args: Args, context: ToolContext<Payload, Credentials>) => unknown;
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof ToolOptions<unknown, unknown>>([
  "credentials",
  "name",
  "description",
  "parameters",
  "requireConfirmation",
  "confirmationHint",
  "confirmationPayload",
  "confirmationLayout",
  "approvers",
  "expiresInMs",
  "amendable",
  "idempotent",
  "readOnly",
  "secrets",
  "isLongRunning",
  "onDenied",
  "execute",
]);

/** Makes a tool from a function. */
export function tool<Args = JsonObject, Payload = unknown, Credentials = unknown>(
  options: ToolOptions<Args, Payload, Credentials>,
): Tool {
  refuseUnknown("tool", options, KNOWN_OPTIONS);
  refuseReserved(options.name);
  checkAsking(`The tool ${options.name}`, options);
  const shape = describedShape(options.name, options.parameters);
  return {
    name: options.name,
    description: options.description,
    ...(shape.jsonSchema === undefined ? {} : { parameters: shape.jsonSchema }),
    definition: {
      name: options.name,
      description: options.description,
      ...(shape.jsonSchema === undefined ? {} : { parameters: shape.jsonSchema }),
    },
    confirmation: toConfirmationRules(options, readForm(standardOf(options.confirmationPayload))),
    repeatable: options.idempotent === true || options.readOnly === true,
    isLongRunning: options.isLongRunning ?? false,
    secrets: options.secrets ?? [],
    ...credentialsOf(options.credentials),
    parse: (args) => shape.parse(args),
    gates: gatesOf(options.requireConfirmation),
    // The parsed value is of the type that its schema says.
    run: (args, context) => options.execute(args as Args, context as ToolContext<Payload, Credentials>),
  };
}

function gatesOf<Args>(gate: ToolOptions<Args, unknown>["requireConfirmation"]): Tool["gates"] {
  if (gate === undefined || typeof gate === "boolean") return () => (gate === true ? ["tool"] : []);
  return async (args, context) => ((await meets(gate, args as Args, context)) ? ["tool"] : []);
}

function credentialsOf<Args, Credentials>(
  given: ToolOptions<Args, unknown, Credentials>["credentials"],
): Pick<Tool, "credentials"> {
  return given === undefined ? {} : { credentials: (args, context) => given(args as Args, context) };
}

/** Parses a schema that people or models will see. A schema without JSON Schema is refused at once. */
function describedShape<Args>(toolName: string, given: Parameters<Args> | undefined): Shape<Args> {
  if (given === undefined) return readShape(given);
  const shape = readShape(standardOf(given));
  if (shape.jsonSchema !== undefined) return shape;
  throw new CountersignError(
    "invalid-option",
    `The schema of ${toolName} cannot be converted to JSON Schema. Use JSON Schema, or a library that can convert to it (zod, arktype).`,
  );
}

function standardOf<Args>(given: Parameters<Args>): Parameters<Args>;
function standardOf<Args>(given: Parameters<Args> | undefined): Parameters<Args> | undefined;
function standardOf<Args>(given: Parameters<Args> | undefined): Parameters<Args> | undefined {
  if (given === undefined) return undefined;
  return (fromZod3(given) as StandardSchema<unknown, Args> | undefined) ?? given;
}

export function refuseReserved(name: string): void {
  const flaw = flawOfName(name);
  if (flaw !== undefined) throw new CountersignError("invalid-option", `The name of a tool ${flaw}.`);
  if (name !== "" && !isReservedName(name)) return;
  throw new CountersignError(
    "reserved-name",
    `"${name}" is a reserved name. Choose another name for the tool.`,
  );
}
