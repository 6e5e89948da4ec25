import { canonicalJson, type JsonValue } from "../../protocol/index.ts";

/** Equal as JSON, whatever the order of members. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || canonicalJson(a) === canonicalJson(b);
}
