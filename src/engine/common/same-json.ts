import { canonicalJson, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";

/** Equal as JSON, whatever the order of members. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || canonicalJson(a) === canonicalJson(b);
}

/** The names of the members that differ. */
export function changedMembers(before: JsonObject, after: JsonObject): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !sameJson(member(before, name), member(after, name)));
}
