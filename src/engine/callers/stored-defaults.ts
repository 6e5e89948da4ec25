import { isJsonArray, isJsonObject, type JsonValue, member } from "../../protocol/index.ts";

/**
 * The parsed arguments of a repeated call, with the stored values in place of those that only parsing has added: a
 * schema's default can be a function, such as a new id. What the model itself sent stays as it was parsed now.
 */
export function withStoredDefaults(
  sent: JsonValue | undefined,
  parsed: JsonValue,
  stored: JsonValue | undefined,
): JsonValue {
  if (isJsonArray(sent) && isJsonArray(parsed) && isJsonArray(stored))
    return parsed.map((item, place) => withStoredDefaults(sent[place], item, stored[place]));
  if (!isJsonObject(sent) || !isJsonObject(parsed) || !isJsonObject(stored)) return parsed;
  const members = Object.entries(parsed).map(([name, value]) => {
    const before = member(stored, name);
    const own = member(sent, name);
    if (own !== undefined) return [name, withStoredDefaults(own, value, before)] as const;
    return [name, before === undefined ? value : before] as const;
  });
  return Object.fromEntries(members);
}
