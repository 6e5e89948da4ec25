import type { Event, Imported } from "./event.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "./json.ts";

/** The member of an event's `customMetadata` that is ours to write. Clients of the ADK do not look at it. */
const OURS = "countersign";

/** An event's `customMetadata` with the mark of an imported event; whatever stood in its place is gone. */
export function importedMetadata(metadata: unknown, { by }: Imported): JsonObject {
  return { ...(isJsonObject(metadata) ? metadata : {}), [OURS]: { imported: { by } } };
}

/** Who brought this event along, if it belongs to an imported conversation: then its author need not have said it. */
export function importedBy({ customMetadata }: Event): string | undefined {
  const by = memberOf(memberOf(memberOf(customMetadata, OURS), "imported"), "by");
  return typeof by === "string" ? by : undefined;
}

function memberOf(value: unknown, name: string): JsonValue | undefined {
  return isJsonObject(value) ? member(value, name) : undefined;
}
