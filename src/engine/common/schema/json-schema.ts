import { createContext, Script } from "node:vm";
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../../protocol/index.ts";
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
    const { fits, validator, size } = readingOf(schema);
    if (fits?.(value) === true) return FITS;
    const outcome = isLarger(value, MOST_WORK / size)
      ? inTime(() => validator.validate(value))
      : validator.validate(value);
    if (outcome.valid) return FITS;
    const worst = outcome.errors.reduce((deepest, error) =>
      error.instanceLocation.length >= deepest.instanceLocation.length ? error : deepest,
    );
    return { ok: false, field: fieldOf(worst), message: worst.error };
  } catch (error) {
    if (isTimeout(error)) {
      return { ok: false, field: "", message: `the schema cannot be checked within ${MOST_MS} ms` };
    }
    // A reference to nowhere is told with all addresses that there are.
    return {
      ok: false,
      field: "",
      message: `the schema cannot be read: ${String(error).slice(0, MOST_TOLD)}`,
    };
  }
}

const FITS = { ok: true } as const;

// Long enough for any ordinary pattern on a busy machine; it stops patterns that would never end.
const MOST_MS = 2_000;
// Everything else takes time in proportion to the schema's size times the value's; up to this much, that is not long.
const MOST_WORK = 4_000_000;
// So many characters the addresses of a schema's parts may have together.
const MOST_ADDRESSES = 10_000_000;
const MOST_TOLD = 300;
const UNBOUNDED = /"(?:pattern|patternProperties|format|\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)":/;

interface Reading {
  readonly fits: ReturnType<typeof quickCheck>;
  readonly validator: Validator;
  /** In characters; infinite if nothing bounds the time that it takes. */
  readonly size: number;
}

// A tool's schema is parsed once and used at every call; it is never changed in place.
const readings = new WeakMap<JsonObject, Reading>();

function readingOf(schema: JsonObject): Reading {
  const known = readings.get(schema);
  if (known !== undefined) return known;
  if (addressesLeft(schema, 1, MOST_ADDRESSES) < 0) throw new Error("it is too large");
  // Short-circuit off: the innermost error is the one that names the field.
  const validator = new Validator(schema, "2020-12", false);
  const text = JSON.stringify(schema);
  const size = UNBOUNDED.test(text) ? Number.POSITIVE_INFINITY : text.length;
  const reading = { fits: quickCheck(schema), validator, size };
  readings.set(schema, reading);
  return reading;
}

/**
 * What is left of `most` characters after the addresses of all parts; below 0 if they have more. The validator keeps the
 * address of each part, and reads a part with an `$id` twice, with all in it: a few lines could take all memory, or years.
 */
function addressesLeft(part: JsonValue, address: number, most: number): number {
  let left = most - address;
  if (typeof part !== "object" || part === null) return left;
  const id = isJsonObject(part) ? (member(part, "$id") ?? member(part, "id")) : undefined;
  const base = address + (typeof id === "string" ? id.length : 0);
  for (const [name, inner] of Object.entries(part)) {
    for (let times = id === undefined ? 1 : 2; times > 0 && left >= 0; times -= 1)
      left = addressesLeft(inner, base + name.length + 1, left);
  }
  return left;
}

/** Has a value more values and characters in it than this? */
function isLarger(value: JsonValue, most: number): boolean {
  const waiting = [value];
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined && seen <= most; next = waiting.pop()) {
    seen += 1;
    if (typeof next === "string") seen += next.length;
    if (typeof next !== "object" || next === null) continue;
    for (const inner of Object.values(next)) waiting.push(inner);
  }
  return seen > most;
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
