import { isJsonArray, type JsonValue } from "../../protocol/index.ts";

/** A copy of the value that nobody else can change. Throws for what JSON cannot express. */
export function copyJson<Value extends JsonValue>(value: Value): Value;
export function copyJson(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return checked(value);
  if (isJsonArray(value)) return value.map((item) => copyJson(item ?? null));
  if ("toJSON" in value) return JSON.parse(JSON.stringify(value)) as JsonValue;
  // Spread, and not member by member: a copy has the shape of what it copies, which is several times as fast.
  const copy: { [key: string]: JsonValue } = { ...value };
  for (const key in copy) {
    const item = copy[key];
    if (typeof item === "string" || typeof item === "boolean") continue;
    if (typeof item === "number") {
      if (item === 0) copy[key] = ZERO;
      continue;
    }
    if (item === undefined) return withoutUndefined(value);
    // `__proto__` is a member of its own by now, so this does not set a prototype.
    copy[key] = copyJson(item);
  }
  return copy;
}

/** In the place of minus zero, too: stored as JSON that is read again without its sign. */
const ZERO = 0;

function checked(value: JsonValue): JsonValue {
  if (value === 0) return ZERO;
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    throw new TypeError(`A ${typeof value} cannot be stored as JSON.`);
  return value;
}

function withoutUndefined(value: object): JsonValue {
  return copyJson(Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)));
}

/** What is read again once the value was stored as JSON; nobody else's to change. */
export function throughJson<Value extends object>(value: Value): Value {
  return (copyPlain(value) ?? JSON.parse(JSON.stringify(value))) as Value;
}

/** A copy of what JSON gives back as it is, which is several times as fast as to read it; undefined for anything else. */
function copyPlain(value: unknown): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined;
    case "object":
      if (value === null) return null;
      if ("toJSON" in value) return undefined;
      return Array.isArray(value) ? copyPlainArray(value) : copyPlainObject(value);
    default:
      return undefined;
  }
}

function copyPlainObject(value: object): JsonValue | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const copy: { [key: string]: JsonValue } = { ...value };
  for (const key in copy) {
    const item: unknown = copy[key];
    if (typeof item === "string") continue;
    const plain = copyPlain(item);
    if (plain === undefined) return undefined;
    copy[key] = plain;
  }
  return copy;
}

function copyPlainArray(values: readonly unknown[]): JsonValue | undefined {
  const copy: JsonValue[] = [];
  for (const value of values) {
    const plain = copyPlain(value);
    if (plain === undefined) return undefined;
    copy.push(plain);
  }
  return copy;
}
