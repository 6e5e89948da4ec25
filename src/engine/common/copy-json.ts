import { isJsonArray, isJsonObject, type JsonValue } from "../../protocol/index.ts";

/** The same value, nobody else's to change. Throws for what JSON cannot say. */
export function copyJson<Value extends JsonValue>(value: Value): Value;
export function copyJson(value: JsonValue): JsonValue {
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    throw new TypeError(`A ${typeof value} cannot be stored as JSON.`);
  if (isJsonArray(value)) return value.map((item) => copyJson(item ?? null));
  if (!isJsonObject(value)) return value;
  if ("toJSON" in value) return JSON.parse(JSON.stringify(value)) as JsonValue;
  const copy: { [key: string]: JsonValue } = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    if (key === "__proto__") Object.defineProperty(copy, key, { ...OWN, value: copyJson(item) });
    else copy[key] = copyJson(item);
  }
  return copy;
}

const OWN = { configurable: true, enumerable: true, writable: true } as const;
