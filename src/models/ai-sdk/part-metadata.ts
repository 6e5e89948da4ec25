import { isJsonObject, type JsonObject, type Part, parseJson } from "../../protocol/index.ts";
import { fieldsOf, type WirePart } from "./language-model.ts";

/**
 * Provider data that must be sent back, stored with its part. It is in `partMetadata`, which the Gemini API also
 * reserves for callers, so that a session can change models.
 */
interface Kept {
  /** The provider's notes on the part: reasoning ids, encrypted reasoning, signatures. */
  readonly providerMetadata?: JsonObject;
  /** A piece that has no other form here, such as a tool that the provider ran itself. */
  readonly content?: JsonObject;
}

/** The member that carries `kept`, or nothing when there is nothing to keep. */
export function partMetadata(kept: {
  readonly providerMetadata?: unknown;
  readonly content?: WirePart;
}): Partial<Part> {
  const providerMetadata = toJson(kept.providerMetadata);
  const content = toJson(kept.content);
  if (providerMetadata === undefined && content === undefined) return {};
  const aiSdk: Kept = {
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(content !== undefined && { content }),
  };
  return { partMetadata: { aiSdk } };
}

/** What {@link partMetadata} put there. */
export function metadataIn(part: Part): Kept {
  return fieldsOf(fieldsOf(part["partMetadata"])["aiSdk"]);
}

/** The value as JSON has it, without members that are undefined; nothing if it is no object, or an empty one. */
function toJson(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const json = parseJson(JSON.stringify(value), { maxBytes: Number.MAX_SAFE_INTEGER });
  return json.ok && isJsonObject(json.value) && Object.keys(json.value).length > 0 ? json.value : undefined;
}
