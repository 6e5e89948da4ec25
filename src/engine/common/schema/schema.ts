import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  toJsonValue,
} from "../../../protocol/index.ts";
import { errorText } from "../error-text.ts";
import { checkSchema } from "./json-schema.ts";

/** The part of the Standard Schema interface that is used here; zod, valibot, arktype and others have it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Parameters as an author may give them: a Standard Schema, or plain JSON Schema. */
export type Parameters<Args> = StandardSchema<unknown, Args> | JsonObject;

export type ParseOutcome<Args> =
  | {
      readonly ok: true;
      /** What is stored, digested, shown and executed: the parsed value if it is JSON, else the input. */
      readonly args: JsonObject;
      /** `args` is the input; it is parsed again when the function runs. */
      readonly unparsed: boolean;
      /** What the function gets. */
      readonly value: Args;
    }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** A parsed schema. */
export interface Shape<Args> {
  readonly jsonSchema?: JsonObject;
  parse(input: unknown): ParseOutcome<Args> | Promise<ParseOutcome<Args>>;
}

/** Parses a schema. Without one, any JSON object fits. */
export function readShape<Args>(parameters: Parameters<Args> | undefined): Shape<Args> {
  if (parameters === undefined) return { parse: (input) => parsePlain<Args>(input, undefined) };
  if (isStandardSchema<Args>(parameters)) return standardShape(parameters);
  return { jsonSchema: parameters, parse: (input) => parsePlain<Args>(input, parameters) };
}

/** The payload that a tool gets, or why it gets none. */
export type PayloadReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** The form that a person fills in with an approval. */
export interface Form {
  /** The part that any process can show and check. */
  readonly jsonSchema: JsonObject;
  /** The complete check, with the author's own checks, defaults and conversions. Never rejects. */
  readonly read: (sent: JsonValue) => Promise<PayloadReading>;
}

/**
 * Parses the schema of a form that a person fills in. A schema without JSON Schema is refused: nobody could show the
 * form, and no other process could check the answer.
 */
export function readForm(parameters: Parameters<unknown> | undefined): Form | undefined {
  if (parameters === undefined) return undefined;
  const { jsonSchema } = readShape(parameters);
  if (jsonSchema === undefined) {
    throw new CountersignError(
      "invalid-option",
      "The payload schema must be JSON Schema, or from a library that can convert to JSON Schema.",
    );
  }
  if (isStandardSchema(parameters)) return { jsonSchema, read: (sent) => readBy(parameters, sent) };
  return {
    jsonSchema,
    read: async (sent) => {
      const outcome = checkSchema(jsonSchema, sent);
      return outcome.ok ? { ok: true, value: sent } : outcome;
    },
  };
}

async function readBy({ "~standard": standard }: StandardSchema, sent: JsonValue): Promise<PayloadReading> {
  try {
    const result = await standard.validate(sent);
    return result.issues === undefined ? { ok: true, value: result.value } : firstIssue(result.issues);
  } catch (error) {
    return { ok: false, field: "", message: `its schema failed: ${errorText(error)}` };
  }
}

export function isStandardSchema<Args>(value: unknown): value is StandardSchema<unknown, Args> {
  // Some libraries' schemas are functions.
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

function parsePlain<Args>(input: unknown, jsonSchema: JsonObject | undefined): ParseOutcome<Args> {
  const json = toJsonValue(withoutUndefined(input));
  if (!json.ok) return { ok: false, field: "", message: `the arguments are not JSON: ${json.message}` };
  if (!isJsonObject(json.value)) return { ok: false, field: "", message: "the arguments must be an object" };
  const outcome = jsonSchema === undefined ? ({ ok: true } as const) : checkSchema(jsonSchema, json.value);
  if (!outcome.ok) return outcome;
  // The author promises that type and schema agree; JSON Schema cannot carry the type.
  return { ok: true, args: json.value, unparsed: false, value: json.value as Args };
}

function standardShape<Args>(schema: StandardSchema<unknown, Args>): Shape<Args> {
  const standard = schema["~standard"];
  const jsonSchema = describeStandard(standard);
  return {
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    parse: (input) => {
      const bound = (result: StandardResult<Args>): ParseOutcome<Args> => {
        if (result.issues !== undefined) return firstIssue(result.issues);
        // Not a result: nothing says that the arguments are right.
        if (!("value" in result)) return { ok: false, field: "", message: "the schema gave no result" };
        return bind(input, result.value);
      };
      const result: unknown = standard.validate(input);
      if (isThenable<StandardResult<Args>>(result)) return Promise.resolve(result).then(bound);
      return bound(result as StandardResult<Args>);
    },
  };
}

/** Also a promise of another library or realm. */
export function isThenable<T>(value: unknown): value is PromiseLike<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function";
}

function describeStandard({ vendor, jsonSchema }: StandardSchema["~standard"]): JsonObject | undefined {
  if (jsonSchema === undefined) return undefined;
  const complaint = `The ${vendor} schema cannot be converted to JSON Schema`;
  let described: unknown;
  try {
    described = jsonSchema.input({ target: "draft-2020-12" });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CountersignError("invalid-option", `${complaint}: ${why}.`, { cause });
  }
  const checked = toJsonValue(described);
  if (checked.ok && isJsonObject(checked.value)) return checked.value;
  throw new CountersignError("invalid-option", `${complaint}.`);
}

function bind<Args>(input: unknown, value: Args): ParseOutcome<Args> {
  const parsed = toJsonValue(withoutUndefined(value));
  if (parsed.ok && isJsonObject(parsed.value))
    return { ok: true, args: parsed.value, unparsed: false, value };
  const raw = toJsonValue(withoutUndefined(input));
  if (raw.ok && isJsonObject(raw.value)) return { ok: true, args: raw.value, unparsed: true, value };
  return { ok: false, field: "", message: "the arguments are not a JSON object, before or after parsing" };
}

// A member set to undefined counts as missing. Values that are too deep or contain themselves are left unchanged;
// `toJsonValue` refuses them.
function withoutUndefined(value: unknown, ancestors: readonly object[] = []): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (ancestors.length === MAX_JSON_DEPTH || ancestors.includes(value)) return value;
  const path = [...ancestors, value];
  if (Array.isArray(value)) return value.map((item) => withoutUndefined(item, path));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: { [key: string]: unknown } = Object.values(value).includes(undefined)
    ? Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))
    : { ...value };
  for (const key of Object.keys(copy)) copy[key] = withoutUndefined(copy[key], path);
  return copy;
}

function firstIssue(issues: readonly StandardIssue[]): {
  readonly ok: false;
  readonly field: string;
  readonly message: string;
} {
  const issue = issues[0];
  const path = (issue?.path ?? [])
    .map((step) => String(typeof step === "object" ? step.key : step))
    .join(".");
  return { ok: false, field: path, message: issue?.message ?? "the arguments do not match the schema" };
}
