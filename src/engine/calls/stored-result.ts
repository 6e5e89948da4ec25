import { CountersignError, type JsonValue, toJsonValue } from "../../protocol/index.ts";

type Kept =
  | { readonly ok: true; readonly value: JsonValue }
  /** `text` if the value has a shorter text form. */
  | { readonly ok: false; readonly flaw: string; readonly text?: string };

/**
 * The stored form of a call's result. The tool did run, so a result that cannot be stored (not JSON, or larger than
 * `maxBytes`) is not a failure: a warning is stored instead.
 */
export function storedResult(result: unknown, maxBytes: number): JsonValue {
  const kept = judge(result ?? null, maxBytes);
  if (kept.ok) return kept.value;
  const rounded = kept.text === undefined ? undefined : toJsonValue(JSON.parse(kept.text));
  if (rounded?.ok) return rounded.value;
  return { warning: `the tool ran, but its result was not stored: ${kept.flaw}` };
}

/**
 * The stored form of a step's result. Throws `invalid-option` if it cannot be stored completely: the function would get
 * something else when it runs again.
 */
export function storedStepResult(result: unknown, name: string, maxBytes: number): JsonValue | undefined {
  if (result === undefined) return undefined;
  const kept = judge(result, maxBytes);
  if (kept.ok) return kept.value;
  throw new CountersignError(
    "invalid-option",
    `The step "${name}" ran, but its result cannot be stored: ${kept.flaw}`,
  );
}

// Checks the size first: inspecting a huge value takes longer than serialising it.
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

// Undefined for values that are not JSON (a cycle, a bigint, a `toJSON` that throws) or too long for a string.
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
