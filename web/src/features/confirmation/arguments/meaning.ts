import type { JsonObject, JsonValue } from "../../../api/types.ts";
import { span, zoned } from "../../../ui/times.ts";
import { headline, wordsOf } from "../card/headline.ts";

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
const UNITS: { readonly [word: string]: number } = {
  ms: 1,
  milliseconds: 1,
  seconds: 1000,
  secs: 1000,
  minutes: 60_000,
};

/** What a value means, where its raw form is hard to read: an amount with its currency, a time, a length of time. */
export function meaningOf(name: string, value: JsonValue, around: JsonObject): string | undefined {
  if (typeof value === "string") return TIME.test(value) ? zoned(value) : undefined;
  if (typeof value !== "number") return undefined;
  const unit = UNITS[wordsOf(name).at(-1) ?? ""];
  if (unit !== undefined && wordsOf(name).length > 1 && value > 0) return span(value * unit);
  return "currency" in around ? inCurrency(name, value, around) : undefined;
}

function inCurrency(name: string, value: number, around: JsonObject): string | undefined {
  const { amount } = headline(around);
  if (amount?.name !== name) return undefined;
  const [, digits] = /^(.*)\s\p{L}+$/u.exec(amount.text) ?? [];
  // The currency is in a row of its own: it alone makes no number easier to read.
  return digits === undefined || digits === String(value) ? undefined : amount.text;
}
