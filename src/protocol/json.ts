import { findAmbiguity } from "./ambiguous-member.ts";

/** Any JSON value. Everything that crosses a boundary or reaches the ledger is one of these. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Keys are data: look members up with {@link member}, never through the prototype. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** How deep a value may nest unless a caller says otherwise. `[]` and `{}` are one deep. */
export const DEFAULT_JSON_DEPTH = 128;

/** No caller can allow more than this: beyond it a walk over the value could exhaust the stack. */
export const MAX_JSON_DEPTH = 1000;

const DEFAULT_JSON_BYTES = 4 * 1024 * 1024;

/** Tells an object from an array, null and the scalars. It does not look inside: {@link toJsonValue} does. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells an array from the rest, as {@link isJsonObject} does an object. */
export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The object's own member of this name, else undefined. Members of the prototype do not count. */
export function member<T>(object: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** What {@link toJsonValue} found. `path` leads to the offending value, as in `args.items[2]`. */
export type JsonCheck =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly message: string; readonly path: string };

/**
 * The same value, if storing it as JSON and reading it back loses nothing; otherwise where and why not.
 * Refused: undefined (as a member too), functions, symbols, bigints, NaN and the infinities, holes in arrays,
 * instances of classes (Date, Map…), cycles, strings and keys with a lone surrogate (no UTF-8 can hold
 * one), and nesting deeper than `maxDepth`. A member called `__proto__` is a member like any other.
 */
export function toJsonValue(value: unknown, options: { maxDepth?: number } = {}): JsonCheck {
  const depthLeft = Math.min(options.maxDepth ?? DEFAULT_JSON_DEPTH, MAX_JSON_DEPTH);
  const flaw = flawOf(value, depthLeft, []);
  if (flaw === undefined) return { ok: true, value: value as JsonValue };
  const path = flaw.path.reverse().join("").replace(/^\./, "");
  return { ok: false, message: `${path === "" ? "The value" : path} ${flaw.complaint}.`, path };
}

/** What {@link parseJson} read, or one sentence on why not. */
export type JsonText =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly message: string; readonly path?: string };

/**
 * Reads a JSON text and never throws, whatever the text. Refuses what {@link toJsonValue} refuses, a member that is
 * named twice, a whole number that would be rounded, and texts over `maxBytes` of UTF-8 (4 MiB unless given). `path` leads to what is refused, if to one place.
 */
export function parseJson(text: string, options: { maxBytes?: number; maxDepth?: number } = {}): JsonText {
  const maxBytes = options.maxBytes ?? DEFAULT_JSON_BYTES;
  if (isLonger(text, maxBytes)) return { ok: false, message: `The text is longer than ${maxBytes} bytes.` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      ok: false,
      message: `The text is not JSON: ${error instanceof Error ? error.message : "unreadable"}.`,
    };
  }
  const check = toJsonValue(value, options);
  const ambiguity = check.ok ? findAmbiguity(text) : undefined;
  if (ambiguity === undefined) return check;
  const { path, complaint } = ambiguity;
  return { ok: false, message: `${path === "" ? "The value" : `\`${path}\``} ${complaint}.`, path };
}

interface Flaw {
  readonly complaint: string;
  /** Segments from the flaw up to the root. */
  readonly path: string[];
}

function flawOf(value: unknown, depthLeft: number, ancestors: object[]): Flaw | undefined {
  switch (typeof value) {
    case "boolean":
      return undefined;
    case "string":
      return value.isWellFormed() ? undefined : { complaint: "contains a lone surrogate", path: [] };
    case "number":
      return Number.isFinite(value)
        ? undefined
        : { complaint: `is ${value}, which JSON cannot say`, path: [] };
    case "object":
      if (value === null) return undefined;
      if (ancestors.includes(value)) return { complaint: "refers to itself", path: [] };
      if (depthLeft <= 0) return { complaint: "is nested too deeply", path: [] };
      return flawInside(value, depthLeft - 1, ancestors);
    default:
      return { complaint: `is of type ${typeof value}, which JSON cannot say`, path: [] };
  }
}

function flawInside(container: object, depthLeft: number, ancestors: object[]): Flaw | undefined {
  const isArray = Array.isArray(container);
  if (!isArray && !isPlain(container))
    return { complaint: "is an instance of a class, not plain data", path: [] };
  const keys = Object.keys(container);
  if (isArray && keys.length !== container.length) {
    return { complaint: "is an array with holes or with members of its own", path: [] };
  }
  ancestors.push(container);
  for (const key of keys) {
    const flaw = key.isWellFormed()
      ? flawOf((container as Record<string, unknown>)[key], depthLeft, ancestors)
      : { complaint: "has a lone surrogate in its name", path: [] };
    if (flaw === undefined) continue;
    flaw.path.push(isArray ? `[${key}]` : `.${key}`);
    return flaw;
  }
  ancestors.pop();
  return undefined;
}

function isPlain(object: object): boolean {
  const prototype = Object.getPrototypeOf(object) as object | null;
  if (prototype === null || prototype === Object.prototype) return true;
  // Objects of another realm (a worker's message, a test runner's sandbox) have that realm's Object.prototype.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function isLonger(text: string, maxBytes: number): boolean {
  // A UTF-16 unit takes one to three bytes of UTF-8, so most texts need no count.
  if (text.length > maxBytes) return true;
  if (text.length * 3 <= maxBytes) return false;
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    // Both halves of a pair count two: four together.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || isSurrogate ? 2 : 3;
  }
  return bytes > maxBytes;
}
