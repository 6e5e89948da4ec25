import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";

/** A member's name as decoders that ignore case (Go's, among others) compare it. */
function foldMember(name: string): string {
  return name.normalize("NFKC").toLowerCase().toUpperCase();
}

/** A tool's name without case, width, spaces and invisible characters, for comparing look-alikes. */
export function foldName(name: string): string {
  return foldMember(name).replaceAll(/[\s\p{C}]/gu, "");
}

/** Is there a name that looks like this one? */
export function sameName(names: readonly string[], name: string): boolean {
  const folded = foldName(name);
  return names.some((one) => foldName(one) === folded);
}

/**
 * The path of the first member whose name differs from that of one beside it only by case or width; undefined if there
 * is none. It is not known which of the two a server uses, so nobody can be shown what would run.
 */
export function duplicateMember(value: JsonValue, path = ""): string | undefined {
  const steps = stepsToTwin(value);
  return steps === undefined ? undefined : `${path}${steps.join("")}`.replace(/^\./, "");
}

// The path is built only if needed: building it for every member would be slow.
function stepsToTwin(value: JsonValue): string[] | undefined {
  if (isJsonArray(value)) {
    for (const [index, inner] of value.entries()) {
      const below = stepsToTwin(inner);
      if (below !== undefined) return [`[${index}]`, ...below];
    }
    return undefined;
  }
  return isJsonObject(value) ? stepsInObject(value) : undefined;
}

function stepsInObject(object: JsonObject): string[] | undefined {
  const seen = new Set<string>();
  for (const [key, inner] of Object.entries(object)) {
    const folded = foldMember(key);
    const below = seen.has(folded) ? [] : stepsToTwin(inner);
    if (below !== undefined) return [`.${key}`, ...below];
    seen.add(folded);
  }
  return undefined;
}
