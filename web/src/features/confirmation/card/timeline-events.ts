import type { AuditRecord } from "countersign/client";
import type { JsonObject } from "../../../api/types.ts";
import { asObject } from "../forms/form-fields.ts";

/** A line of the timeline. */
export interface TimelineEvent {
  readonly text: string;
  readonly tone: "plain" | "yes" | "no" | "warn";
}

type Line = (body: JsonObject) => TimelineEvent;

const plain =
  (text: string): Line =>
  () => ({ text, tone: "plain" });
const toned =
  (tone: TimelineEvent["tone"], text: (body: JsonObject) => string): Line =>
  (body) => ({ text: text(body), tone });

const LINES: { readonly [kind: string]: Line } = {
  "confirmation-requested": plain("Asked"),
  "confirmation-approved": toned("yes", (body) => `Approved${by(body)}${changed(body)}${started(body)}`),
  "confirmation-denied": toned("no", (body) => `Denied${by(body)}${because(body)}`),
  "vote-cast": (body) =>
    body["confirmed"] === true
      ? { text: `Approved${by(body)}, as one of several`, tone: "yes" }
      : { text: `Denied${by(body)}, as one of several${because(body)}`, tone: "no" },
  "vote-withdrawn": toned("plain", (body) => `A vote was withdrawn${by(body)}`),
  "confirmation-seen": toned("plain", (body) => `Seen${by(body)}`),
  "confirmation-reminded": plain("The approvers were reminded"),
  "confirmation-escalated": toned("plain", (body) => `Escalated${toWhom(body)}`),
  "confirmation-expired": toned("plain", () => "Expired: nobody decided in time"),
  "confirmation-cancelled": toned("plain", (body) => `Cancelled${by(body)}${because(body)}`),
  "confirmation-restored": toned("warn", (body) => `The database was restored${because(body)}`),
  "decision-refused": toned("warn", (body) => `A decision${by(body)} was refused: ${word(body, "code")}`),
  "grant-minted": toned("yes", () => "Further calls were granted with the approval"),
  "grant-refused": plain("A grant does not cover it, so a person is asked"),
  "call-started": toned("plain", (body) => `Started, attempt ${word(body, "attempt")}`),
  "call-succeeded": toned("yes", () => "Succeeded"),
  "call-failed": toned("warn", () => "Failed"),
  "call-denied": plain("The denial was sent to the tool"),
  "call-expired": plain("The expiry was sent to the tool"),
  "call-cancelled": toned("plain", (body) => `The call was cancelled${because(body)}`),
  "call-unknown": toned("warn", (body) => `The outcome became unknown${because(body)}`),
  "call-settled": toned(
    "warn",
    (body) =>
      `Settled${by(body)} as ${word(body, "as")}${body["happened"] === false ? ": nothing happened" : ""}`,
  ),
  "call-released": toned("plain", (body) => `Released${because(body)}`),
  "late-result": toned("warn", () => "A late result arrived"),
  "step-started": toned("plain", (body) => `Step “${word(body, "step")}” started`),
  "step-done": toned("plain", (body) => `Step “${word(body, "step")}” done`),
  "step-failed": toned("warn", (body) => `Step “${word(body, "step")}” failed`),
};

/** What a record of the journal says, in a few words. */
export function eventOf({ kind, body }: Pick<AuditRecord, "kind" | "body">): TimelineEvent {
  const line = Object.hasOwn(LINES, kind) ? LINES[kind] : undefined;
  return line?.(body ?? {}) ?? { text: kind.replaceAll("-", " "), tone: "plain" };
}

function by(body: JsonObject): string {
  const person = asObject(body["by"]);
  if (typeof person?.["id"] !== "string") return "";
  const via = typeof body["via"] === "string" ? body["via"] : "";
  const delegator = asObject(body["delegated"])?.["from"];
  const forWhom = typeof delegator === "string" ? ` for ${delegator}` : "";
  return ` by ${person["id"]}${forWhom} (${via}${person["authenticated"] === true ? "" : ", unauthenticated"})`;
}

function toWhom({ to, group }: JsonObject): string {
  if (typeof group === "string") return ` to ${group}`;
  const { users = [], roles = [] } = asObject(to) ?? {};
  const names = [users, roles].flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
  return names.length === 0 ? "" : ` to ${names.join(", ")}`;
}

function because({ reason }: JsonObject): string {
  return typeof reason === "string" && reason !== "" ? `: ${reason}` : "";
}

function changed({ amended }: JsonObject): string {
  const fields = asObject(amended)?.["fields"];
  return Array.isArray(fields) ? `, with changed ${fields.join(", ")}` : "";
}

function started({ started: start }: JsonObject): string {
  return asObject(start) === undefined ? "" : "; it started at once";
}

function word(body: JsonObject, name: string): string {
  const value = body[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
