import type { StoredItem } from "../../../engine/index.ts";
import type { JsonObject, JsonValue } from "../../../protocol/index.ts";
import type { Row } from "../connection/index.ts";

/**
 * A value as the table of items has it: the names and values of an object in turn, each as JSON, or the whole of anything
 * else. So the server can lay one object over another without reading JSON, of which it would refuse or change some.
 */
export function toParts(value: JsonValue): readonly string[] {
  if (!isObject(value)) return [JSON.stringify(value)];
  return Object.entries(value).flatMap(([name, member]) => [JSON.stringify(name), JSON.stringify(member)]);
}

/** From the parts, themselves as a JSON array. */
export function fromParts(text: string): JsonValue {
  const parts = JSON.parse(text) as readonly string[];
  if (parts.length % 2 === 1) return JSON.parse(parts[0] ?? "null") as JsonValue;
  const members: string[] = [];
  for (let at = 0; at < parts.length; at += 2) members.push(`${parts[at]}:${parts[at + 1]}`);
  return JSON.parse(`{${members.join(",")}}`) as JsonValue;
}

/** From its kind, its id, its parts as a JSON array, its version and when it expires. */
export function toItem([kind, id, value, version, expiresAt]: Row): StoredItem {
  return {
    kind: kind as string,
    id: id as string,
    value: fromParts(value as string),
    version: version as number,
    ...(expiresAt === null ? {} : { expiresAt: expiresAt as number }),
  };
}

/** A list of texts as PostgreSQL writes an array. */
export function toArrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
