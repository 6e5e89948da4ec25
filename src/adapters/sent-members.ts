import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../protocol/index.ts";

/** Parsed arguments without what only parsing has added: a default can be another one at each parse. */
export function onlySent(sent: JsonObject, parsed: JsonObject): JsonObject {
  const members = Object.entries(parsed).flatMap(([name, value]) => {
    const own = member(sent, name);
    return own === undefined ? [] : [[name, within(own, value)] as const];
  });
  return Object.fromEntries(members);
}

function within(sent: JsonValue, parsed: JsonValue): JsonValue {
  if (isJsonObject(sent) && isJsonObject(parsed)) return onlySent(sent, parsed);
  if (!isJsonArray(sent) || !isJsonArray(parsed)) return parsed;
  return parsed.map((item, place) => {
    const own = sent[place];
    return own === undefined ? item : within(own, item);
  });
}

/** What was sent, with what parsing has added: parsed again, nothing is left to be added. */
export function withAdded(sent: JsonValue, parsed: JsonValue): JsonValue {
  if (isJsonArray(sent) && isJsonArray(parsed))
    return sent.map((item, place) => {
      const own = parsed[place];
      return own === undefined ? item : withAdded(item, own);
    });
  if (!isJsonObject(sent) || !isJsonObject(parsed)) return sent;
  const members = Object.entries(parsed).map(([name, value]) => {
    const own = member(sent, name);
    return [name, own === undefined ? value : withAdded(own, value)] as const;
  });
  return { ...sent, ...Object.fromEntries(members) };
}
