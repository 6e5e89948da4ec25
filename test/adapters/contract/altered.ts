import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../src/protocol/index.ts";

/** What stands in a stored text in place of what. */
export interface Alteration {
  readonly from: readonly JsonObject[];
  readonly to: JsonObject;
}

/** A framework's stored text, in which these arguments were replaced wherever they are: also in JSON within texts. */
export function altered(text: string, { from, to }: Alteration): string {
  const originals = new Set(from.map((each) => canonicalJson(each)));
  return inText(text, (value) => (originals.has(canonicalJson(value)) ? to : undefined));
}

type Replace = (value: JsonObject) => JsonObject | undefined;

function inText(text: string, replace: Replace): string {
  return text
    .split("\n")
    .map((line) => {
      const value = /^\s*[[{]/.test(line) ? parsed(line) : undefined;
      const changed = value === undefined ? undefined : within(value, replace);
      return changed === value ? line : JSON.stringify(changed);
    })
    .join("\n");
}

/** The same value if nothing in it was replaced. */
function within(value: JsonValue, replace: Replace): JsonValue {
  if (typeof value === "string") return inText(value, replace);
  if (isJsonArray(value)) {
    const items = value.map((item) => within(item, replace));
    return items.some((item, place) => item !== value[place]) ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  const members = Object.entries(value).map(([name, each]) => [name, within(each, replace)] as const);
  return members.some(([name, each]) => each !== value[name]) ? Object.fromEntries(members) : value;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
