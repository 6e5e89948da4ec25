import { isJsonObject, type JsonObject } from "../../json.ts";
import { type Parsed, parsed, type Unreadable, unreadable } from "../../parsed.ts";

/** An {@link Unreadable} of an answer: nothing in it is decided. */
export function undecided(path: string, complaint: string): Unreadable {
  return unreadable(path, complaint, "malformed-decision");
}

/** The object, if it has no member beside the allowed ones: kagent refuses the others too. */
export function strictObject(value: unknown, allowed: readonly string[], path: string): Parsed<JsonObject> {
  if (!isJsonObject(value)) return undecided(path, "must be an object");
  const extra = Object.keys(value).find((name) => !allowed.includes(name));
  return extra === undefined
    ? parsed(value)
    : undecided(path, `has a member that does not belong: \`${extra}\``);
}

/** A payload of the extension: a strict object whose `type` is the one that the request calls for. */
export function strictPayload(value: unknown, type: string, members: readonly string[]): Parsed<JsonObject> {
  if (isJsonObject(value) && value["type"] !== type) return undecided("type", `must be \`${type}\``);
  return strictObject(value, ["type", ...members], "");
}

/** Why the ids given are not the ids asked for, each exactly once; undefined when they are. */
export function mismatch(
  asked: readonly string[],
  given: readonly string[],
  path: string,
): Unreadable | undefined {
  const unknown = given.find((id) => !asked.includes(id));
  if (unknown !== undefined) return undecided(path, `answers ${unknown}, which was not asked`);
  const twice = given.find((id, index) => given.indexOf(id) !== index);
  if (twice !== undefined) return undecided(path, `answers ${twice} twice`);
  const missing = asked.find((id) => !given.includes(id));
  return missing === undefined ? undefined : undecided(path, `leaves ${missing} unanswered`);
}
