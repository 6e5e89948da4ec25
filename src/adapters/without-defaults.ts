import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../protocol/index.ts";

/** Under these a key is a name, and a parameter may be called "default". */
const NAME_MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
const DATA: ReadonlySet<string> = new Set(["const", "enum", "examples"]);

const made = new WeakMap<JsonObject, JsonObject>();

/** {@link withoutDefaults} of a tool's schema, which is the same object at every call. */
export function keptWithoutDefaults(schema: JsonObject): JsonObject {
  const known = made.get(schema) ?? withoutDefaults(schema);
  made.set(schema, known);
  return known;
}

/**
 * The schema of arguments that are parsed already, which its defaults say nothing about. One that is a function has
 * another value in every process, and the tool would seem to have changed since people were asked.
 */
export function withoutDefaults(schema: JsonObject): JsonObject {
  const members = Object.entries(schema)
    .filter(([key]) => key !== "default")
    .map(([key, value]) => [key, DATA.has(key) ? value : within(value, NAME_MAPS.has(key))] as const);
  return Object.fromEntries(members);
}

function within(value: JsonValue, keysAreNames: boolean): JsonValue {
  if (isJsonArray(value)) return value.map((item) => within(item, false));
  if (!isJsonObject(value)) return value;
  if (!keysAreNames) return withoutDefaults(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, within(schema, false)]));
}
