/** A decimal that is not negative: its digits as `units`, of which the last `places` come after the point. */
export interface Amount {
  readonly units: bigint;
  readonly places: number;
}

/** More digits than this, and a number may not be the decimal that somebody wrote. */
const MOST_DIGITS = 15;

/**
 * The amount that a JSON value is. A number counts as its shortest decimal form, which is what people are
 * shown. Everything else is undefined: no number, negative, minus zero, not finite, written with an exponent, or with
 * more digits than a number holds exactly.
 */
export function amountOf(value: unknown): Amount | undefined {
  if (typeof value !== "number" || Object.is(value, -0)) return undefined;
  return readAmount(String(value), MOST_DIGITS);
}

/** Reads a sum as it is stored. */
export function readSum(text: string): Amount | undefined {
  return readAmount(text, Number.POSITIVE_INFINITY);
}

function readAmount(text: string, mostDigits: number): Amount | undefined {
  const [, whole, part = ""] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || whole.length + part.length > mostDigits) return undefined;
  return { units: BigInt(whole + part), places: part.length };
}

export const ZERO: Amount = { units: 0n, places: 0 };

export function plus(one: Amount, other: Amount): Amount {
  const places = Math.max(one.places, other.places);
  return { units: scaled(one, places) + scaled(other, places), places };
}

/** Undefined if it would be less than nothing. */
export function minus(one: Amount, other: Amount): Amount | undefined {
  const places = Math.max(one.places, other.places);
  const units = scaled(one, places) - scaled(other, places);
  return units < 0n ? undefined : { units, places };
}

export function isMore(one: Amount, other: Amount): boolean {
  const places = Math.max(one.places, other.places);
  return scaled(one, places) > scaled(other, places);
}

/** As it is stored: without needless places. */
export function amountText({ units, places }: Amount): string {
  const digits = units.toString().padStart(places + 1, "0");
  if (places === 0) return digits;
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "");
}

function scaled({ units, places }: Amount, to: number): bigint {
  return units * 10n ** BigInt(to - places);
}
