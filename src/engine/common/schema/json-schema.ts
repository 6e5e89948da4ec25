import { createContext, Script } from "node:vm";
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "../../../protocol/index.ts";
import { quickCheck } from "./quick-check.ts";

/** Does the value fit? If not, which field does not, and why. */
export type SchemaOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly field: string; readonly message: string };

/**
 * Checks a value against a JSON Schema (2020-12). A schema that cannot be parsed, or that takes too long, accepts
 * nothing: schemas may come from strangers, and one pattern could block the whole process.
 */
export function checkSchema(schema: JsonObject, value: JsonValue): SchemaOutcome {
  try {
    const { fits, validator, mayTakeLong } = readingOf(schema);
    if (fits?.(value) === true) return FITS;
    const outcome = mayTakeLong ? inTime(() => validator.validate(value)) : validator.validate(value);
    if (outcome.valid) return FITS;
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

const FITS = { ok: true } as const;

// Long enough for any ordinary pattern on a busy machine; it stops patterns that would never end.
const MOST_MS = 2_000;
// Everything else takes time in proportion to the schema and the value.
const UNBOUNDED = /"(?:pattern|patternProperties|format|\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)":/;

interface Reading {
  readonly fits: ReturnType<typeof quickCheck>;
  readonly validator: Validator;
  readonly mayTakeLong: boolean;
}

// A tool's schema is parsed once and used at every call; it is never changed in place.
const readings = new WeakMap<JsonObject, Reading>();

function readingOf(schema: JsonObject): Reading {
  const known = readings.get(schema);
  if (known !== undefined) return known;
  // Short-circuit off: the innermost error is the one that names the field.
  const validator = new Validator(schema, "2020-12", false);
  const reading = {
    fits: quickCheck(schema),
    validator,
    mayTakeLong: UNBOUNDED.test(JSON.stringify(schema)),
  };
  readings.set(schema, reading);
  return reading;
}

const ENTER = new Script("enter()");
let context: { enter: () => void } | undefined;

// Only the JavaScript engine can interrupt a running regular expression.
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

// Thrown in the script's own realm, where `Error` is another class.
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

function fieldOf({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = instanceLocation.replace(/^#\/?/, "");
  // A missing member has no location; only the message names it.
  const missing = keyword === "required" ? (/"(.*)"/s.exec(error)?.[1] ?? "") : "";
  return place === "" || missing === "" ? place + missing : `${place}/${missing}`;
}
