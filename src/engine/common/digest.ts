import { hash } from "node:crypto";
import { canonicalJson, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { hmac } from "./hmac.ts";

/**
 * The keyed digest of a value: equal for equal JSON, whatever the order of its members. Keyed, because the plain hash
 * of a short secret can be found by brute force.
 */
export function valueDigest(key: Uint8Array, value: JsonValue): string {
  return hash("sha256", prefixesOf(key).value + canonicalJson(value), "base64url");
}

/** The keyed digest of a journal record's body. */
export function bodyDigest(key: Uint8Array, text: string): string {
  return hash("sha256", prefixesOf(key).body + text, "base64url");
}

/** What bodies are digested with, for whoever checks them without the ledger. Tells nothing of the key. */
export function bodyDigestPrefix(key: Uint8Array): string {
  return prefixesOf(key).body;
}

/** The digest of a body, by what {@link bodyDigestPrefix} gave. */
export function bodyDigestAfter(prefix: string, text: string): string {
  return hash("sha256", prefix + text, "base64url");
}

/**
 * What is put before what is hashed: of fixed length, and secret. An HMAC costs five times as much. The key only has to
 * keep a short text from being guessed; it authenticates nothing, because whoever can write to the database can read it.
 */
interface Prefixes {
  readonly value: string;
  readonly body: string;
}

const prefixes = new WeakMap<Uint8Array, Prefixes>();

function prefixesOf(key: Uint8Array): Prefixes {
  const known = prefixes.get(key);
  if (known !== undefined) return known;
  const made = { value: hmac(key, "value"), body: hmac(key, "journal body") };
  prefixes.set(key, made);
  return made;
}

/** What an approver relies on when they read a tool's name. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly annotations?: JsonObject;
  /** MCP server or remote agent: the name that rules match. */
  readonly server?: string;
  /** Where the server is. */
  readonly place?: string;
}

const COSMETIC: ReadonlySet<string> = new Set(["title", "examples", "$schema"]);

/**
 * Digest of a tool's definition. Cosmetic schema members are left out, so that a library upgrade that only rewords
 * titles cancels nothing. The version tag allows changing the algorithm.
 */
export function definitionDigest(definition: ToolDefinition): string {
  const known = definitionDigests.get(definition);
  if (known !== undefined) return known;
  const digest = digestDefinition(definition);
  definitionDigests.set(definition, digest);
  return digest;
}

// A definition is digested once and used at every call; it is never changed in place.
const definitionDigests = new WeakMap<ToolDefinition, string>();

function digestDefinition(definition: ToolDefinition): string {
  const { parameters, ...rest } = definition;
  const plain: JsonObject = {
    ...(rest as JsonObject),
    ...(parameters === undefined ? {} : { parameters: withoutCosmetics(parameters, false) }),
  };
  return `v1:${hash("sha256", canonicalJson(plain), "base64url")}`;
}

// Under `properties` a key is a parameter's name, and a parameter may be called "title". So may a member of a default
// value, which is data, not schema.
function withoutCosmetics(value: JsonValue, keysAreNames: boolean): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutCosmetics(item, false));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as JsonObject)
    .filter(([key]) => keysAreNames || !COSMETIC.has(key))
    .map(([key, item]) => {
      if (!keysAreNames && DATA.has(key)) return [key, item] as const;
      return [key, withoutCosmetics(item, !keysAreNames && NAME_MAPS.has(key))] as const;
    });
  return Object.fromEntries(entries);
}

const NAME_MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
  "$defs",
  "definitions",
]);
const DATA: ReadonlySet<string> = new Set(["default", "const", "enum"]);
