import { createContext, Script } from "node:vm";
import { type OutputUnit, type ValidationResult, Validator } from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "../protocol/index.ts";

/** Does the value fit? If not, which field does not, and why. */
export type SchemaOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly field: string; readonly message: string };

/**
 * Checks a value against a JSON Schema (2020-12). A schema that cannot be read fits nothing, nor does one that takes
 * too long: schemas come from strangers too, and one pattern of theirs could stop the whole process.
 */
export function checkSchema(schema: JsonObject, value: JsonValue): SchemaOutcome {
  try {
    // Short-circuit off: the innermost error is the one that names the field.
    const validate = (): ValidationResult => new Validator(schema, "2020-12", false).validate(value);
    const outcome = mayTakeLong(schema) ? inTime(validate) : validate();
    if (outcome.valid) return { ok: true };
    const worst = outcome.errors.reduce((deepest, error) =>
      error.instanceLocation.length >= deepest.instanceLocation.length ? error : deepest,
    );
    return { ok: false, field: fieldOf(worst), message: worst.error };
  } catch (error) {
    if (isTimeout(error)) {
      return { ok: false, field: "", message: `the schema cannot be checked within ${MOST_MS} ms` };
    }
    return { ok: false, field: "", message: `the schema cannot be read: ${String(error)}` };
  }
}

const MOST_MS = 250;
// All else takes time in proportion to the schema and the value.
const UNBOUNDED = /"(?:pattern|patternProperties|format|\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)":/;
const known = new WeakMap<JsonObject, boolean>();

function mayTakeLong(schema: JsonObject): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const found = UNBOUNDED.test(JSON.stringify(schema));
  known.set(schema, found);
  return found;
}

const ENTER = new Script("enter()");
let context: { enter: () => void } | undefined;

// The only thing that breaks off a regular expression which has begun is the engine that runs it.
function inTime<T extends object>(work: () => T): T {
  let result: T | undefined;
  context ??= createContext({ enter: () => {} }) as { enter: () => void };
  context.enter = () => {
    result = work();
  };
  ENTER.runInContext(context, { timeout: MOST_MS });
  if (result === undefined) throw new Error("it was not checked");
  return result;
}

// Made in the script's own realm, where `Error` is another class.
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

function fieldOf({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = instanceLocation.replace(/^#\/?/, "");
  // What is missing has no place of its own; only the message names it.
  const missing = keyword === "required" ? (/"(.*)"/s.exec(error)?.[1] ?? "") : "";
  return place === "" || missing === "" ? place + missing : `${place}/${missing}`;
}
