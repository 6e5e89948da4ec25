import type { JsonObject, JsonValue } from "../../../api/types.ts";

type Check = (schema: JsonObject, value: number | string) => string | undefined;

const number =
  (
    name: string,
    isWrong: (value: number, bound: number) => boolean,
    says: (bound: number) => string,
  ): Check =>
  (schema, value) => {
    const bound = schema[name];
    if (typeof bound !== "number" || typeof value !== "number") return undefined;
    return isWrong(value, bound) ? says(bound) : undefined;
  };

const length =
  (
    name: string,
    isWrong: (count: number, bound: number) => boolean,
    says: (bound: number) => string,
  ): Check =>
  (schema, value) => {
    const bound = schema[name];
    if (typeof bound !== "number" || typeof value !== "string") return undefined;
    return isWrong(Array.from(value).length, bound) ? says(bound) : undefined;
  };

const CHECKS: readonly Check[] = [
  number(
    "minimum",
    (value, bound) => value < bound,
    (bound) => `This must be at least ${bound}.`,
  ),
  number(
    "maximum",
    (value, bound) => value > bound,
    (bound) => `This must be at most ${bound}.`,
  ),
  number(
    "exclusiveMinimum",
    (value, bound) => value <= bound,
    (bound) => `This must be more than ${bound}.`,
  ),
  number(
    "exclusiveMaximum",
    (value, bound) => value >= bound,
    (bound) => `This must be less than ${bound}.`,
  ),
  number("multipleOf", isNoMultiple, (bound) => `This must be a multiple of ${bound}.`),
  length(
    "minLength",
    (count, bound) => count < bound,
    (bound) => `This needs at least ${bound} characters.`,
  ),
  length(
    "maxLength",
    (count, bound) => count > bound,
    (bound) => `This may have at most ${bound} characters.`,
  ),
  ({ pattern }, value) => {
    if (typeof pattern !== "string" || typeof value !== "string") return undefined;
    return fitsPattern(pattern, value) ? undefined : `This must match the pattern ${pattern}.`;
  },
];

/** What a schema's own words say against a number or a text. The server judges again, and judges the rest. */
export function flawOf(schema: JsonObject, value: JsonValue): string | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  for (const check of CHECKS) {
    const flaw = check(schema, value);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

/** Within what a floating-point quotient can tell. */
function isNoMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return of > 0 && Math.abs(quotient - Math.round(quotient)) > 1e-9;
}

function fitsPattern(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}
