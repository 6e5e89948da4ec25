import type { ToolConfirmation } from "../../content.ts";
import type { Event, EventActions } from "../../event.ts";
import { isJsonObject, type JsonObject, type JsonValue, member, toJsonValue } from "../../json.ts";
import { type Parsed, parsed, unreadable } from "../../parsed.ts";
import { SPELLINGS } from "./casing.ts";
import { parseContent, parseMembers } from "./content.ts";
import { checkMembers, type MemberKinds, within } from "./members.ts";

const EVENT: MemberKinds = {
  "a string": ["id", "invocationId", "author", "branch", "errorCode", "errorMessage"],
  "a number": ["timestamp"],
  "a boolean": ["partial", "turnComplete"],
  "an object": ["content", "actions"],
  "an array of strings": ["longRunningToolIds"],
};

const REQUIRED = ["id", "invocationId", "author", "timestamp"] as const;

const ACTIONS: MemberKinds = {
  "a string": ["transferToAgent"],
  "a boolean": ["skipSummarization", "escalate"],
  "an object": ["stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations"],
};

const CONFIRMATION: MemberKinds = { "a string": ["hint"], "a boolean": ["confirmed"] };

/**
 * An event from the outside, in either spelling; `timestamp` is taken as it is, whatever its unit. Absent
 * actions are none; members not known here are kept. Refuses, with the path, what is not JSON, an event
 * without id, invocation, author or time, and a known member of a wrong type.
 */
export function parseEvent(value: unknown, path = ""): Parsed<Event> {
  const checked = toJsonValue(value);
  if (!checked.ok) return unreadable(within(path, checked.path), "is not JSON", "malformed-json");
  const members = parseMembers(checked.value, SPELLINGS.event, EVENT, path);
  if (!members.ok) return members;
  for (const name of REQUIRED) {
    if (!Object.hasOwn(members.value, name)) return unreadable(within(path, name), "is missing");
  }
  const { content, ...others } = members.value;
  const actions = parseActions(member(others, "actions") ?? {}, within(path, "actions"));
  if (!actions.ok) return actions;
  const message = content === undefined ? undefined : parseContent(content, within(path, "content"));
  if (message?.ok === false) return message;
  const event = { ...others, actions: actions.value, ...(message && { content: message.value }) };
  // Each member that the type names was looked at above; the compiler cannot follow the table.
  return parsed(event as unknown as Event);
}

function parseActions(value: JsonValue, path: string): Parsed<EventActions> {
  const members = parseMembers(value, SPELLINGS.eventActions, ACTIONS, path);
  if (!members.ok) return members;
  const { requestedToolConfirmations: requested, ...others } = members.value;
  if (requested === undefined || !isJsonObject(requested)) return parsed(others);
  const confirmations = parseConfirmations(requested, within(path, "requestedToolConfirmations"));
  if (!confirmations.ok) return confirmations;
  return parsed({ ...others, requestedToolConfirmations: confirmations.value });
}

function parseConfirmations(
  requested: JsonObject,
  path: string,
): Parsed<{ [callId: string]: ToolConfirmation }> {
  const confirmations: [string, ToolConfirmation][] = [];
  for (const [callId, value] of Object.entries(requested)) {
    const place = within(path, callId);
    if (!isJsonObject(value)) return unreadable(place, "must be an object");
    const members = checkMembers(value, CONFIRMATION, place);
    if (!members.ok) return members;
    const confirmed = member(members.value, "confirmed");
    if (typeof confirmed !== "boolean") return unreadable(within(place, "confirmed"), "must be a boolean");
    confirmations.push([callId, { ...members.value, confirmed }]);
  }
  return parsed(Object.fromEntries(confirmations));
}
