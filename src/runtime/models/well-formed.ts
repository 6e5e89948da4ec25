import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";

/**
 * The same value with every lone surrogate replaced by U+FFFD. Models sometimes produce one; it cannot be encoded as
 * UTF-8, so it could be neither stored nor shown. A value without any is returned unchanged.
 */
export function wellFormed<Value extends JsonValue>(value: Value): Value;
export function wellFormed(value: JsonValue): JsonValue {
  if (isWellFormed(value)) return value;
  if (typeof value === "string") return value.toWellFormed();
  if (isJsonArray(value)) return value.map((item) => wellFormed(item));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, item]) => [name.toWellFormed(), wellFormed(item)]),
  );
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (isJsonArray(value)) return value.every(isWellFormed);
  if (!isJsonObject(value)) return true;
  return Object.keys(value).every((name) => name.isWellFormed() && isWellFormed(value[name] as JsonValue));
}
