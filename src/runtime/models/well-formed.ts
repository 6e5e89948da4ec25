import { isJsonArray, isJsonObject, type JsonValue } from "../../protocol/index.ts";

/**
 * The same value with every lone surrogate replaced by U+FFFD. Models sometimes produce one; it cannot be encoded as
 * UTF-8, so it could be neither stored nor shown. A value without any is returned unchanged.
 */
export function wellFormed<Value extends JsonValue>(value: Value): Value;
export function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (isJsonArray(value)) {
    const items = value.map((item) => wellFormed(item));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, item]) => [wellFormed(name), wellFormed(item)] as const);
  const changed = entries.some(([name, item]) => !Object.hasOwn(value, name) || value[name] !== item);
  return changed ? Object.fromEntries(entries) : value;
}
