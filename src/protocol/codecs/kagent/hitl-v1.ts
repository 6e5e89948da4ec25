import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  toJsonValue,
} from "../../json.ts";
import { type Parsed, parsed, unreadable } from "../../parsed.ts";

/** The extension's URI: in the header, in a message's `extensions`, and the key of its `metadata`. */
export const KAGENT_HITL_EXTENSION = "https://kagent.dev/extensions/hitl/v1";

/** The two members by which a message carries a payload of the extension; clients require both. */
export interface HitlEnvelope {
  readonly extensions: readonly string[];
  readonly metadata: JsonObject;
}

/** What to spread into an A2A message so that it carries this payload. */
export function toHitlEnvelope(payload: JsonObject): HitlEnvelope {
  return { extensions: [KAGENT_HITL_EXTENSION], metadata: { [KAGENT_HITL_EXTENSION]: payload } };
}

/**
 * The extension's payload in an A2A message. `undefined` when the message has nothing to do with the
 * extension. Refuses (`malformed-decision`) a message that only declares it or only carries it, and a payload
 * that is not an object of JSON.
 */
export function readHitlPayload(message: unknown): Parsed<JsonObject | undefined> {
  const envelope = isJsonObject(message) ? message : {};
  const extensions = member(envelope, "extensions");
  const metadata = member(envelope, "metadata");
  const isDeclared = isJsonArray(extensions) && extensions.includes(KAGENT_HITL_EXTENSION);
  const payload = isJsonObject(metadata) ? member(metadata, KAGENT_HITL_EXTENSION) : undefined;
  if (!isDeclared && payload === undefined) return parsed(undefined);
  if (!isDeclared)
    return unreadable("extensions", `must name ${KAGENT_HITL_EXTENSION}`, "malformed-decision");
  return checkPayload(payload);
}

function checkPayload(payload: JsonValue | undefined): Parsed<JsonObject> {
  const path = `metadata["${KAGENT_HITL_EXTENSION}"]`;
  const checked = toJsonValue(payload);
  if (!checked.ok || !isJsonObject(checked.value)) {
    return unreadable(path, "must be an object of JSON", "malformed-decision");
  }
  return parsed(checked.value);
}
