import { createHash } from "node:crypto";
import type { JsonObject } from "../../protocol/index.ts";
import type { Summary } from "./summary.ts";

/** An event for PagerDuty's Events API v2: an incident while it waits or is unknown, resolved when it is over. */
export function pagerDutyBody({ title, lines, link, ...facts }: Summary, routingKey: string): JsonObject {
  const dedupKey = createHash("sha256").update(facts.subject).digest("hex");
  const links = link === undefined ? [] : [{ href: link, text: "Open in the inbox" }];
  if (!facts.isOpen && !facts.isUnknown)
    return { routing_key: routingKey, event_action: "resolve", dedup_key: dedupKey };
  return {
    routing_key: routingKey,
    event_action: "trigger",
    dedup_key: dedupKey,
    payload: {
      summary: `${title}. ${lines[0] ?? ""}`.slice(0, 1_024),
      source: "countersign",
      severity: facts.isUnknown ? "error" : "warning",
      custom_details: { lines: [...lines] },
    },
    links,
  };
}
