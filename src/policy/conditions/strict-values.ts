/** The longest list or map that a rule may go through; a longer one is an error. */
export const LONGEST_LIST = 1_000;
/** How many items all loops of all rules may go through for one call: about a fifth of a second. */
const MOST_ITEMS = 100_000;

const itemsLeft = { enforced: MOST_ITEMS, observed: MOST_ITEMS };
let counted: keyof typeof itemsLeft = "enforced";

/** To be called before the rules judge a call. */
export function resetLoops(): void {
  itemsLeft.enforced = MOST_ITEMS;
  itemsLeft.observed = MOST_ITEMS;
  counted = "enforced";
}

/** Whose loops come next. Rules that only observe are counted apart: they must not make the others fail. */
export function countLoops({ observe }: { readonly observe: boolean }): void {
  counted = observe ? "observed" : "enforced";
}

type Kind = "null" | "boolean" | "number" | "text" | "list" | "map";
type JsonMap = { readonly [name: string]: unknown };

function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
    case "bigint":
      return "number";
    case "string":
      return "text";
    default:
      if (value === null) return "null";
      return Array.isArray(value) ? "list" : "map";
  }
}

/** Are the two the same? Values of different kinds cannot be compared. */
export function same(a: unknown, b: unknown): boolean {
  const kind = kindOf(a);
  if (kind !== kindOf(b)) throw new TypeError(`cannot compare a ${kind} with a ${kindOf(b)}`);
  switch (kind) {
    case "list":
      return sameLists(a as readonly unknown[], b as readonly unknown[]);
    case "map":
      return sameMaps(a as JsonMap, b as JsonMap);
    case "number":
      // Exact also between integers and decimal numbers.
      return numeric(a) <= numeric(b) && numeric(a) >= numeric(b);
    default:
      return a === b;
  }
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, index) => same(one, b[index]));
}

function sameMaps(a: JsonMap, b: JsonMap): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
}

/** If none is the same, every item must have been comparable: a text is not "not in" a list of numbers. */
export function within(value: unknown, all: unknown): boolean {
  let wrong: unknown;
  for (const one of itemsOf(all)) {
    try {
      if (same(value, one)) return true;
    } catch (error) {
      wrong = error;
    }
  }
  if (wrong instanceof Error) throw wrong;
  return false;
}

/** The item of a list, or the member of a map. The key may be a secret, or the model's words: errors do not tell it. */
export function at(all: unknown, key: unknown): unknown {
  const kind = kindOf(all);
  if (kind === "list") return item(all as readonly unknown[], key);
  if (kind !== "map") throw new TypeError(`a ${kind} has no members`);
  const name = text(key);
  if (!present(all, name)) throw new TypeError("the map has no such key");
  return (all as JsonMap)[name];
}

function item(all: readonly unknown[], key: unknown): unknown {
  const index = Number(numeric(key));
  if (!Number.isInteger(index) || index < 0 || index >= all.length)
    throw new TypeError("the list has no such item");
  return all[index];
}

/** Does the map have this member, even if it is null? */
export function present(all: unknown, name: string): boolean {
  const kind = kindOf(all);
  if (kind !== "map") throw new TypeError(`a ${kind} has no members`);
  return Object.hasOwn(all as object, name);
}

/** The member of this name, which the condition itself spells. */
export function memberOf(all: unknown, name: string): unknown {
  if (typeof all === "object" && all !== null && !Array.isArray(all) && Object.hasOwn(all, name))
    return (all as JsonMap)[name];
  throw new TypeError(`No such key: ${name}`);
}

/** What a loop goes through. A map in the place of a list would hide its values: only its keys would be seen. */
export function itemsOf(all: unknown): readonly unknown[] {
  if (!Array.isArray(all)) throw new TypeError(`a ${kindOf(all)} is not a list${hintFor(all)}`);
  if (all.length > LONGEST_LIST) throw new TypeError(`the list has more than ${LONGEST_LIST} items`);
  itemsLeft[counted] -= all.length;
  if (itemsLeft[counted] < 0) throw new TypeError("the loops visit too many items");
  return all;
}

function hintFor(value: unknown): string {
  return kindOf(value) === "map" ? "; keys() gives the names of its members" : "";
}

/** The names of a map's members. */
export function keysOf(all: unknown): readonly string[] {
  const kind = kindOf(all);
  if (kind !== "map") throw new TypeError(`a ${kind} has no keys`);
  return Object.keys(all as object);
}

/** How many characters a text has, or how many items a list. */
export function sizeOf(value: unknown): bigint {
  if (typeof value === "string") return BigInt(Array.from(value).length);
  if (Array.isArray(value)) return BigInt(value.length);
  throw new TypeError(`a ${kindOf(value)} has no size${hintFor(value)}`);
}

export function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`a ${kindOf(value)} is not a text`);
}

export function truth(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new TypeError(`a ${kindOf(value)} is neither true nor false`);
}

export function numeric(value: unknown): number | bigint {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isNaN(value))) return value;
  throw new TypeError(`a ${kindOf(value)} is not a number`);
}

const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** The number that a value is, or that it spells in plain digits. */
export function number(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" && DECIMAL.test(value)) return Number(value);
  throw new TypeError('number() takes a number, or a text such as "12.50"');
}
