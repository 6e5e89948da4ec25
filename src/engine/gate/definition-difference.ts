import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../../protocol/index.ts";
import type { ToolDefinition } from "../common/index.ts";

const LONGEST_QUOTE = 200;

/** How a tool's definition changed, in phrases for the person who approved the old one. */
export function differenceOf(before: ToolDefinition, now: ToolDefinition): readonly string[] {
  return [
    ...textChange("description", before.description, now.description),
    ...textChange("server", before.server, now.server),
    ...textChange("server's place", before.place, now.place),
    ...memberChanges("parameter", propertiesOf(before.parameters), propertiesOf(now.parameters)),
    ...restChange("parameters", before.parameters, now.parameters),
    ...memberChanges("annotation", before.annotations ?? {}, now.annotations ?? {}),
  ];
}

function textChange(name: string, before = "", now = ""): readonly string[] {
  return before === now ? [] : [`its ${name} changed from "${clip(before)}" to "${clip(now)}"`];
}

function memberChanges(what: string, before: JsonObject, now: JsonObject): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((name) => {
    const [was, is] = [member(before, name), member(now, name)];
    if (was === undefined) return [`the ${what} ${name} is new`];
    if (is === undefined) return [`the ${what} ${name} was removed`];
    return isSame(was, is) ? [] : [`the ${what} ${name} changed from ${shown(was)} to ${shown(is)}`];
  });
}

/** Other changes of a schema: which properties are required, whether others are allowed. */
function restChange(name: string, before: JsonObject = {}, now: JsonObject = {}): readonly string[] {
  const { properties: _before, ...was } = before;
  const { properties: _now, ...is } = now;
  return isSame(was, is) ? [] : [`the rules for its ${name} changed from ${shown(was)} to ${shown(is)}`];
}

function propertiesOf(schema: JsonObject | undefined): JsonObject {
  const properties = schema === undefined ? undefined : member(schema, "properties");
  return isJsonObject(properties) ? properties : {};
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

function shown(value: JsonValue): string {
  return clip(JSON.stringify(value));
}

function clip(text: string): string {
  return text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`;
}
