import type { Environment } from "@marcbachmann/cel-js";
import { occurs } from "./patterns.ts";

/** The longest list or map that a rule may go through. */
export const LONGEST_LIST = 1_000;
/** How many items all loops of all rules may go through for one call: about a fifth of a second. */
const MOST_ITEMS = 100_000;

let itemsLeft = MOST_ITEMS;

/** To be called before the rules judge a call. */
export function resetLoops(): void {
  itemsLeft = MOST_ITEMS;
}

/** The functions that rules may call. */
export function withRuleFunctions(environment: Environment): Environment {
  return environment
    .registerFunction("re2(string, string): bool", occurs)
    .registerFunction("number(dyn): double", number);
}

/** The functions that replace operators whose own meaning would let a value of a wrong type pass as `false`. */
export function withStrictFunctions(environment: Environment): Environment {
  return environment
    .registerFunction("strictSame(dyn, dyn): bool", same)
    .registerFunction("strictNull(dyn): bool", (value) => value === null)
    .registerFunction("strictIn(dyn, dyn): bool", within)
    .registerFunction("strictAt(dyn, dyn): dyn", at)
    .registerFunction("strictHas(dyn, string): bool", present)
    .registerFunction("strictLess(dyn, dyn): bool", (a, b) => numeric(a) < numeric(b))
    .registerFunction("strictMost(dyn, dyn): bool", (a, b) => numeric(a) <= numeric(b))
    .registerFunction("strictFinite(dyn): dyn", finite)
    .registerFunction("strictLoop(dyn): dyn", loop);
}

type Kind = "null" | "boolean" | "number" | "text" | "list" | "map";

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

function same(a: unknown, b: unknown): boolean {
  const [kind, other] = [kindOf(a), kindOf(b)];
  if (kind !== other) throw new TypeError(`cannot compare a ${kind} with a ${other}`);
  switch (kind) {
    case "list":
      return sameLists(a as readonly unknown[], b as readonly unknown[]);
    case "map":
      return sameMaps(entriesOf(a), entriesOf(b));
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

function sameMaps(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([key, value]) => b.has(key) && same(value, b.get(key)));
}

function entriesOf(value: unknown): ReadonlyMap<unknown, unknown> {
  return value instanceof Map ? value : new Map(Object.entries(value as object));
}

// If none is the same, every item must have been comparable: a text is not "not in" a list of numbers.
function within(value: unknown, all: unknown): boolean {
  const kind = kindOf(all);
  if (kind === "map") return present(all, text(value));
  if (kind !== "list") throw new TypeError(`"in" needs a list or a map, not a ${kind}`);
  const items = counted(all as readonly unknown[]);
  let wrong: unknown;
  for (const one of items) {
    try {
      if (same(value, one)) return true;
    } catch (error) {
      wrong = error;
    }
  }
  if (wrong instanceof Error) throw wrong;
  return false;
}

// The key may be a secret, or the model's words: errors are shown and recorded.
function at(all: unknown, key: unknown): unknown {
  const kind = kindOf(all);
  if (kind === "list") return item(all as readonly unknown[], key);
  if (kind !== "map") throw new TypeError(`a ${kind} has no members`);
  const name = text(key);
  if (!present(all, name)) throw new TypeError("the map has no such key");
  return entriesOf(all).get(name);
}

function item(all: readonly unknown[], key: unknown): unknown {
  const index = Number(numeric(key));
  if (!Number.isInteger(index) || index < 0 || index >= all.length)
    throw new TypeError("the list has no such item");
  return all[index];
}

function present(all: unknown, name: string): boolean {
  const kind = kindOf(all);
  if (kind !== "map") throw new TypeError(`a ${kind} has no members`);
  return all instanceof Map ? all.has(name) : Object.hasOwn(all as object, name);
}

function loop(all: unknown): unknown {
  const kind = kindOf(all);
  if (kind === "list") counted(all as readonly unknown[]);
  else if (kind === "map") counted([...entriesOf(all).keys()]);
  else throw new TypeError(`cannot loop over a ${kind}`);
  return all;
}

function counted(items: readonly unknown[]): readonly unknown[] {
  if (items.length > LONGEST_LIST) throw new TypeError(`the list has more than ${LONGEST_LIST} items`);
  itemsLeft -= items.length;
  if (itemsLeft < 0) throw new TypeError("the loops visit too many items");
  return items;
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`a ${kindOf(value)} is not a text`);
}

function numeric(value: unknown): number | bigint {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isNaN(value))) return value;
  throw new TypeError(`a ${kindOf(value)} is not a number`);
}

// A result that is not a number would be neither more nor less than any limit.
function finite(value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new TypeError("the result is not a finite number");
}

const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/;

function number(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" && DECIMAL.test(value)) return Number(value);
  throw new TypeError('number() takes a number, or a text such as "12.50"');
}
