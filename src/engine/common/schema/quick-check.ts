import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../../../protocol/index.ts";

/** Does the value fit? */
type Fits = (value: JsonValue) => boolean;

const CHECKED: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
]);
const NOTES: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
]);

const SCALARS: ReadonlyMap<JsonValue | undefined, Fits> = new Map<string, Fits>([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number"],
  ["integer", Number.isInteger],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
]);

/**
 * A check by a schema of the few keywords that most tools use, several times as fast as a whole validator. Undefined for a
 * schema with any other keyword.
 */
export function quickCheck(schema: JsonValue | undefined): Fits | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (!Object.keys(schema).every((keyword) => CHECKED.has(keyword) || NOTES.has(keyword))) return undefined;
  const type = member(schema, "type");
  if (type === "object") return objectCheck(schema);
  return type === "array" ? arrayCheck(schema) : SCALARS.get(type);
}

function objectCheck(schema: JsonObject): Fits | undefined {
  // Without a default for `null`: what that means, the validator says.
  const { properties = {}, required = [], additionalProperties: others = true } = schema;
  if (!isJsonObject(properties) || !areNames(required) || typeof others !== "boolean") return undefined;
  const members = new Map<string, Fits>();
  for (const [name, given] of Object.entries(properties)) {
    const fits = quickCheck(given);
    if (fits === undefined) return undefined;
    members.set(name, fits);
  }
  return (value) => {
    if (!isJsonObject(value)) return false;
    for (const name of required) if (!Object.hasOwn(value, name)) return false;
    for (const name of Object.keys(value)) {
      const fits = members.get(name);
      if (fits === undefined ? !others : !fits(value[name] as JsonValue)) return false;
    }
    return true;
  };
}

function areNames(value: JsonValue): value is readonly string[] {
  return isJsonArray(value) && value.every((name) => typeof name === "string");
}

function arrayCheck(schema: JsonObject): Fits | undefined {
  const items = member(schema, "items");
  if (items === undefined) return isJsonArray;
  const fits = quickCheck(items);
  return fits && ((value) => isJsonArray(value) && value.every(fits));
}
