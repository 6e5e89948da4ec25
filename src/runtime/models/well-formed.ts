import { isJsonArray, isJsonObject, type JsonValue } from "../../protocol/index.ts";

/**
 * The same value with every half of a character replaced by U+FFFD. Models that write by tokens now and then leave one;
 * no UTF-8 can hold it, so it could be neither stored nor shown. What is whole already is returned as it is.
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
