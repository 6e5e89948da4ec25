const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ARRAY_BEGINS = 0x5b;
const ARRAY_ENDS = 0x5d;
const OBJECT_BEGINS = 0x7b;
const OBJECT_ENDS = 0x7d;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** An object or array that the scan is inside of. */
interface Level {
  /** The member, or the index, that it is at. */
  at: string | number;
  /** Is the next string the name of a member? */
  nameNext: boolean;
  /** The names that an object has had. */
  readonly names?: Set<string>;
}

/** An ambiguity in a text: where it is, and why. */
export interface Ambiguity {
  /** As in `decisions[0].confirmed`. */
  readonly path: string;
  readonly complaint: string;
}

// A whole number of fewer digits is kept exactly.
const MANY_DIGITS = 16;

/**
 * The first place in a JSON text that two readers may read differently; undefined if there is none. A duplicate member:
 * parsers differ in which one they use. An integer that would be rounded: what is shown would not be what was sent. The
 * text is read once, from its beginning to its end.
 */
export function findAmbiguity(text: string): Ambiguity | undefined {
  const levels: Level[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) {
      const end = endOfString(text, index);
      const level = levels.at(-1);
      if (level?.nameNext === true && isRepeated(level, nameIn(text.slice(index + 1, end)))) {
        return { path: pathOf(levels), complaint: "is given twice; give it once" };
      }
      index = end;
    } else if (beginsNumber(unit)) {
      const end = endOfNumber(text, index);
      if (isRounded(text.slice(index, end))) return { path: pathOf(levels), complaint: ROUNDED };
      index = end - 1;
    } else move(levels, unit);
  }
  return undefined;
}

function move(levels: Level[], unit: number): void {
  if (unit === OBJECT_BEGINS) levels.push({ at: "", nameNext: true, names: new Set() });
  else if (unit === ARRAY_BEGINS) levels.push({ at: 0, nameNext: false });
  else if (unit === OBJECT_ENDS || unit === ARRAY_ENDS) levels.pop();
  else if (unit === COMMA) goOn(levels.at(-1));
}

const ROUNDED = "is a whole number that would be rounded; send it as text";

function beginsNumber(unit: number): boolean {
  return unit === MINUS || (unit >= ZERO && unit <= NINE);
}

function endOfNumber(text: string, begin: number): number {
  NUMBER.lastIndex = begin;
  NUMBER.test(text);
  return NUMBER.lastIndex;
}

// Only integers: with a point or an exponent nobody expects every digit to be preserved.
function isRounded(number: string): boolean {
  return number.length >= MANY_DIGITS && /^-?\d+$/.test(number) && `${Number(number)}` !== number;
}

function goOn(level: Level | undefined): void {
  if (level === undefined) return;
  if (typeof level.at === "number") level.at += 1;
  else level.nameNext = true;
}

function isRepeated(level: Level, name: string): boolean {
  level.nameNext = false;
  level.at = name;
  if (level.names?.has(name) === true) return true;
  level.names?.add(name);
  return false;
}

/** Where the quote is that ends the string which this one begins. */
function endOfString(text: string, begin: number): number {
  let end = text.indexOf('"', begin + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

// By an odd number of backslashes: of an even number each has escaped another.
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

// "a" and "\u0061" are one name.
function nameIn(raw: string): string {
  return raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
}

function pathOf(levels: readonly Level[]): string {
  const path = levels.map(({ at }) => (typeof at === "number" ? `[${at}]` : `.${at}`)).join("");
  return path.replace(/^\./, "");
}
