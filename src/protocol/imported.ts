import type { Event, Imported } from "./event.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "./json.ts";

/** Our own member of an event's `customMetadata`. ADK clients ignore it. */
const OURS = "countersign";

/** An event's `customMetadata` with the mark of an imported event; replaces an existing mark. */
export function importedMetadata(metadata: unknown, { by }: Imported): JsonObject {
  return { ...(isJsonObject(metadata) ? metadata : {}), [OURS]: { imported: { by } } };
}

/** Who imported this event, if it was imported: then its author may not have said it. */
export function importedBy({ customMetadata }: Event): string | undefined {
  const by = memberOf(memberOf(memberOf(customMetadata, OURS), "imported"), "by");
  return typeof by === "string" ? by : undefined;
}

function memberOf(value: unknown, name: string): JsonValue | undefined {
  return isJsonObject(value) ? member(value, name) : undefined;
}
