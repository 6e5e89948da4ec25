import { createHash } from "node:crypto";
import type { JsonObject } from "../../protocol/index.ts";
import type { Summary } from "./summary.ts";

/** Opsgenie's limits, in characters. */
const MOST_MESSAGE = 130;
const MOST_DESCRIPTION = 15_000;

/** A request to the Alert API of Opsgenie, or of Jira Service Management. */
export interface OpsgenieRequest {
  /** After the address of all alerts. */
  readonly path: string;
  readonly body: JsonObject;
}

/** An alert while it waits or is unknown, closed when it is over. Opsgenie shows texts without markup. */
export function opsgenieRequest({ title, lines, link, ...facts }: Summary): OpsgenieRequest {
  const alias = createHash("sha256").update(facts.subject).digest("hex");
  const source = "countersign";
  if (!facts.isOpen && !facts.isUnknown)
    return { path: `/${alias}/close?identifierType=alias`, body: { source, note: title } };
  const message = `${title}. ${lines[0] ?? ""}`.slice(0, MOST_MESSAGE);
  const description = [...(link === undefined ? [] : [link]), ...lines].join("\n");
  const priority = facts.isUnknown ? "P2" : "P3";
  const body = { alias, message, description: description.slice(0, MOST_DESCRIPTION), priority, source };
  return { path: "", body };
}
