import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../json.ts";
import { type Parsed, parsed, unreadable } from "../../parsed.ts";

/** The kinds of member that the ADK's types have, by the word used in complaints. */
interface Kinds {
  "a string": string;
  "a number": number;
  "a boolean": boolean;
  "an object": JsonObject;
  "an array of strings": readonly string[];
}

/** What a wire type's members must be where they stand, by kind; members not listed pass unlooked at. */
export type MemberKinds = { readonly [Kind in keyof Kinds]?: readonly string[] };

const IS_KIND: { readonly [Kind in keyof Kinds]: (value: JsonValue) => boolean } = {
  "a string": (value) => typeof value === "string",
  "a number": (value) => typeof value === "number",
  "a boolean": (value) => typeof value === "boolean",
  "an object": isJsonObject,
  "an array of strings": (value) => isJsonArray(value) && value.every((item) => typeof item === "string"),
};

/**
 * The object, if every listed member that it has is of its kind. A listed member that is null is taken
 * out: Python's ADK writes null for what was not set.
 */
export function checkMembers(object: JsonObject, kinds: MemberKinds, path: string): Parsed<JsonObject> {
  const unset = new Set<string>();
  for (const kind of Object.keys(kinds) as (keyof Kinds)[]) {
    for (const name of kinds[kind] ?? []) {
      const value = member(object, name);
      if (value === null) unset.add(name);
      else if (value !== undefined && !IS_KIND[kind](value))
        return unreadable(within(path, name), `must be ${kind}`);
    }
  }
  if (unset.size === 0) return parsed(object);
  return parsed(Object.fromEntries(Object.entries(object).filter(([name]) => !unset.has(name))));
}

/** The path of a member: `content.parts`. */
export function within(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
