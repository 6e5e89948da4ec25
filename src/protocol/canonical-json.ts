import { CountersignError } from "./countersign-error.ts";
import { isJsonArray, type JsonObject, type JsonValue, MAX_JSON_DEPTH } from "./json.ts";

/**
 * The one text of a value under RFC 8785 (JCS): members sorted by UTF-16 code unit, numbers as ECMAScript
 * writes them, no blanks. Equal values have equal texts, whatever the order of their members, and different
 * values have different ones; `-0` is `0`. Throws `malformed-json` for what has no such text: lone surrogates,
 * NaN and the infinities, undefined, nesting beyond {@link MAX_JSON_DEPTH}.
 */
export function canonicalJson(value: JsonValue): string {
  return write(value, MAX_JSON_DEPTH);
}

function write(value: JsonValue, depthLeft: number): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      if (!Number.isFinite(value)) return refuse(`${value} is not a JSON number`);
      return `${value}`;
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depthLeft <= 0) return refuse(`The value nests deeper than ${MAX_JSON_DEPTH}`);
      return isJsonArray(value) ? writeArray(value, depthLeft - 1) : writeObject(value, depthLeft - 1);
    default:
      return refuse(`A value of type ${typeof value} is not JSON`);
  }
}

function writeArray(array: readonly JsonValue[], depthLeft: number): string {
  let text = "[";
  for (let index = 0; index < array.length; index += 1) {
    if (index > 0) text += ",";
    // A hole reads as undefined, which `write` refuses.
    text += write(array[index] as JsonValue, depthLeft);
  }
  return `${text}]`;
}

function writeObject(object: JsonObject, depthLeft: number): string {
  const keys = sortKeys(Object.keys(object));
  let text = "{";
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    if (index > 0) text += ",";
    text += `${quote(key)}:${write(object[key] as JsonValue, depthLeft)}`;
  }
  return `${text}}`;
}

/** Above this many keys the engine's sort is faster than insertion. */
const FEW_KEYS = 16;

/** In place, by UTF-16 code unit (section 3.2.3): that is how `>` and a bare `sort` compare strings. */
function sortKeys(keys: string[]): string[] {
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let end = 1; end < keys.length; end += 1) {
    const key = keys[end] as string;
    let place = end;
    for (; place > 0 && (keys[place - 1] as string) > key; place -= 1)
      keys[place] = keys[place - 1] as string;
    keys[place] = key;
  }
  return keys;
}

/** Up to this length looking at each character costs less than a call into the engine. */
const SHORT_TEXT = 64;

function quote(text: string): string {
  if (text.length <= SHORT_TEXT && isPlainAscii(text)) return `"${text}"`;
  if (!text.isWellFormed()) return refuse("A string or a name contains a lone surrogate");
  // ECMAScript's escapes are those of section 3.2.2.2.
  return JSON.stringify(text);
}

/** Printable ASCII without the quote and the backslash: nothing to escape. */
function isPlainAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}

function refuse(complaint: string): never {
  throw new CountersignError("malformed-json", `${complaint}; it has no canonical form.`);
}
