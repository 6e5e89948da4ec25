import { CountersignError, type JsonValue, toJsonValue } from "../../protocol/index.ts";

type Kept =
  | { readonly ok: true; readonly value: JsonValue }
  /** `text` where the value has one that says less than the value does. */
  | { readonly ok: false; readonly flaw: string; readonly text?: string };

/**
 * What of a call's result is kept. The tool did run, so a result that cannot be kept (no JSON, or more than `maxBytes`
 * of it) does not make that a failure: a warning that says so stands in its place.
 */
export function keptResult(result: unknown, maxBytes: number): JsonValue {
  const kept = judge(result ?? null, maxBytes);
  if (kept.ok) return kept.value;
  const rounded = kept.text === undefined ? undefined : toJsonValue(JSON.parse(kept.text));
  if (rounded?.ok) return rounded.value;
  return { warning: `the tool ran, but its result was not stored: ${kept.flaw}` };
}

/**
 * What of a step's result is remembered. Throws `invalid-option` where that cannot be all of it: the body would be
 * given something else the next time it is entered.
 */
export function rememberedResult(result: unknown, name: string, maxBytes: number): JsonValue | undefined {
  if (result === undefined) return undefined;
  const kept = judge(result, maxBytes);
  if (kept.ok) return kept.value;
  throw new CountersignError(
    "invalid-option",
    `The step "${name}" ran, but its result cannot be stored: ${kept.flaw}`,
  );
}

// The size comes first: to look into what is too large takes longer than to write it down.
function judge(result: unknown, maxBytes: number): Kept {
  const text = textOf(result);
  const bytes = text === undefined ? 0 : Buffer.byteLength(text);
  if (bytes > maxBytes)
    return { ok: false, flaw: `it has ${bytes} bytes of JSON; the limit is ${maxBytes}.` };
  const exact = toJsonValue(result);
  if (!exact.ok) return { ok: false, flaw: `it is not JSON: ${exact.message}`, ...(text && { text }) };
  return text === undefined
    ? { ok: false, flaw: `it is larger than the limit of ${maxBytes} bytes.` }
    : exact;
}

// Undefined for what JSON cannot say (a cycle, a bigint, a `toJSON` that throws) and for what no string has room for.
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
