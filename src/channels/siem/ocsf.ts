import { entrySubject, type JournalKind, type JournalRecord, parseEntry } from "../../engine/index.ts";
import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { PlainRecord } from "./lines.ts";

// Class "API Activity" of the category "Application Activity", https://schema.ocsf.io/1.8.0/classes/api_activity.
const VERSION = "1.8.0";
const CATEGORY = 6;
const CLASS = 6_003;
const PER_CLASS = 100;
const ACTIVITIES = { create: 1, update: 3, delete: 4 } as const;
const SEVERITIES = { informational: 1, low: 2, medium: 3 } as const;
const STATUSES = { unknown: 0, success: 1, failure: 2 } as const;

interface Classified {
  readonly activity?: keyof typeof ACTIVITIES;
  readonly severity?: keyof typeof SEVERITIES;
  readonly status?: keyof typeof STATUSES;
}

/** What differs from a successful update that needs no attention. */
const KINDS: { readonly [kind in JournalKind]?: Classified } = {
  "confirmation-requested": { activity: "create" },
  "confirmation-expired": { severity: "low" },
  "decision-refused": { severity: "medium", status: "failure" },
  "call-failed": { severity: "low", status: "failure" },
  "call-unknown": { severity: "medium", status: "unknown" },
  "grant-minted": { activity: "create" },
  "grant-refused": { severity: "low", status: "failure" },
  "grant-revoked": { activity: "delete" },
  "delegation-made": { activity: "create" },
  "delegation-revoked": { activity: "delete" },
  "hold-placed": { activity: "create" },
  "hold-released": { activity: "delete" },
  "session-imported": { activity: "create" },
  "session-deleted": { activity: "delete" },
  "session-pruned": { activity: "delete" },
  "person-erased": { activity: "delete" },
  "retention-run": { activity: "delete" },
  "journal-archived": { activity: "create" },
  "journal-pruned": { activity: "delete" },
};

/** The record as an event of the Open Cybersecurity Schema Framework. All that it says is in `unmapped`. */
export function toOcsf(plain: PlainRecord, record: JournalRecord): JsonObject {
  const { activity = "update", severity = "informational", status = "success" } = classify(plain.kind);
  const entry = parseEntry(record);
  const { confirmation, call, tool } = entry.state === "readable" ? entrySubject(entry) : {};
  const resource = {
    type: "tool call",
    ...(call === undefined ? {} : { uid: call }),
    ...(tool === undefined ? {} : { name: tool }),
  };
  return {
    metadata: {
      version: VERSION,
      uid: plain.id,
      event_code: plain.kind,
      log_name: "countersign",
      original_event_uid: String(plain.seq),
      product: { name: "Countersign", vendor_name: "Countersign" },
      ...(confirmation === undefined ? {} : { correlation_uid: confirmation }),
    },
    category_uid: CATEGORY,
    category_name: "Application Activity",
    class_uid: CLASS,
    class_name: "API Activity",
    activity_id: ACTIVITIES[activity],
    type_uid: CLASS * PER_CLASS + ACTIVITIES[activity],
    severity_id: SEVERITIES[severity],
    status_id: STATUSES[status],
    time: record.at,
    message: tool === undefined ? plain.kind : `${plain.kind}: ${tool}`,
    actor: actorOf(plain.body),
    api: { operation: plain.kind, service: { name: "countersign" } },
    src_endpoint: { svc_name: "countersign" },
    ...(call === undefined ? {} : { resources: [resource] }),
    unmapped: { ...plain },
  };
}

function classify(kind: string): Classified {
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind as JournalKind] ?? {}) : {};
}

/** Who did it; the server itself where nobody is named. */
function actorOf(body: JsonObject | null): JsonObject {
  const by = body?.["by"];
  const id = isJsonObject(by ?? null) ? (by as JsonObject)["id"] : by;
  return typeof id === "string" && id !== "" ? { user: { uid: id } } : { app_name: "countersign" };
}
