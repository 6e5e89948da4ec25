import type { Content, FunctionCall, FunctionResponse, Part } from "../../content.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  toJsonValue,
} from "../../json.ts";
import { type Parsed, parsed, unreadable } from "../../parsed.ts";
import { inCamelCase, SPELLINGS, type Spellings } from "./casing.ts";
import { checkMembers, type MemberKinds, within } from "./members.ts";

type Envelope = JsonObject & { readonly parts: readonly JsonValue[] };

/** A message with its parts unread. Refuses what is not JSON, and a message without `parts`. */
export function parseEnvelope(value: unknown, path = ""): Parsed<Envelope> {
  const checked = toJsonValue(value);
  if (!checked.ok) return unreadable(within(path, checked.path), "is not JSON", "malformed-json");
  if (!isJsonObject(checked.value)) return unreadable(path, "must be an object with `parts`");
  const members = checkMembers(checked.value, { "a string": ["role"] }, path);
  if (!members.ok) return members;
  const list = member(members.value, "parts");
  if (!isJsonArray(list)) return unreadable(within(path, "parts"), "must be an array");
  return parsed({ ...members.value, parts: list });
}

/**
 * A message from the outside, in either spelling. Parts of kinds not known here are kept as they came. Refuses,
 * with the path, what is not JSON, a message without `parts`, and a known member of a wrong type.
 */
export function parseContent(value: unknown, path = ""): Parsed<Content> {
  const envelope = parseEnvelope(value, path);
  if (!envelope.ok) return envelope;
  const parts: Part[] = [];
  for (const [index, item] of envelope.value.parts.entries()) {
    const part = parsePart(item, `${within(path, "parts")}[${index}]`);
    if (!part.ok) return part;
    parts.push(part.value);
  }
  return parsed({ ...envelope.value, parts });
}

const PART: MemberKinds = {
  "a string": ["text", "thoughtSignature"],
  "a boolean": ["thought"],
  "an object": ["functionCall", "functionResponse", "inlineData", "fileData"],
};

/** One part of a message; the value must be JSON already. Unknown kinds come back as they are. */
export function parsePart(value: JsonValue, path: string): Parsed<Part> {
  const members = parseMembers(value, SPELLINGS.part, PART, path);
  if (!members.ok) return members;
  const known: { [name: string]: unknown } = {};
  for (const [name, parse] of INNER) {
    const inner = member(members.value, name);
    if (inner === undefined) continue;
    const outcome = parse(inner, within(path, name));
    if (!outcome.ok) return outcome;
    known[name] = outcome.value;
  }
  return parsed({ ...members.value, ...known });
}

const CALL: MemberKinds = { "a string": ["id", "name"], "an object": ["args"] };

/** A function call. Absent `args` are none; an empty id is no id. Refuses a call without a name. */
export function parseFunctionCall(value: JsonValue, path: string): Parsed<FunctionCall> {
  const members = parseMembers(value, SPELLINGS.functionCall, CALL, path);
  if (!members.ok) return members;
  const { id, ...others } = members.value;
  const name = textIn(others, "name");
  if (name === undefined) return unreadable(within(path, "name"), "must be a string that is not empty");
  const args = member(others, "args");
  return parsed({ ...withId(id), ...others, name, args: isJsonObject(args) ? args : {} });
}

const RESPONSE: MemberKinds = {
  "a string": ["id", "name", "scheduling"],
  "a boolean": ["willContinue"],
  "an object": ["response"],
};

/** A function response. Refuses one without a name or without a `response` object: it answers nothing. */
function parseFunctionResponse(value: JsonValue, path: string): Parsed<FunctionResponse> {
  const members = parseMembers(value, SPELLINGS.functionResponse, RESPONSE, path);
  if (!members.ok) return members;
  const { id, ...others } = members.value;
  const name = textIn(others, "name");
  if (name === undefined) return unreadable(within(path, "name"), "must be a string that is not empty");
  const response = member(others, "response");
  if (!isJsonObject(response)) return unreadable(within(path, "response"), "must be an object");
  return parsed({ ...withId(id), ...others, name, response });
}

const INNER: readonly [string, (value: JsonValue, path: string) => Parsed<unknown>][] = [
  ["functionCall", parseFunctionCall],
  ["functionResponse", parseFunctionResponse],
  ["inlineData", (value, path) => parseMembers(value, SPELLINGS.blob, {}, path)],
  ["fileData", (value, path) => parseMembers(value, SPELLINGS.fileData, {}, path)],
];

/** An object of one wire type: its known members in camelCase and of the right kinds. */
export function parseMembers(
  value: JsonValue,
  known: Spellings,
  kinds: MemberKinds,
  path: string,
): Parsed<JsonObject> {
  if (!isJsonObject(value)) return unreadable(path, "must be an object");
  const spelled = inCamelCase(value, known, path);
  return spelled.ok ? checkMembers(spelled.value, kinds, path) : spelled;
}

function textIn(object: JsonObject, name: string): string | undefined {
  const value = member(object, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function withId(id: JsonValue | undefined): { id?: string } {
  return typeof id === "string" && id !== "" ? { id } : {};
}
