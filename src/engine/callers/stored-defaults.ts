import { isJsonArray, isJsonObject, type JsonValue, member } from "../../protocol/index.ts";

/**
 * Does the value hold all that was sent, by the same names and as it was sent? If so, parsing has neither renamed nor
 * changed any of it.
 */
export function holdsSent(value: JsonValue | undefined, sent: JsonValue): boolean {
  if (isJsonArray(sent))
    return (
      isJsonArray(value) &&
      value.length === sent.length &&
      sent.every((item, place) => holdsSent(value[place], item))
    );
  if (!isJsonObject(sent)) return value === sent;
  return (
    isJsonObject(value) && Object.entries(sent).every(([name, own]) => holdsSent(member(value, name), own))
  );
}

/**
 * The parsed arguments of a repeated call, with the stored values in place of those that only parsing has added: a
 * schema's default can be a function, such as a new id. Whatever the model sent itself stays as it was parsed now.
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
