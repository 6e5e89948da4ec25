import { hash } from "node:crypto";
import type { ErrorCode } from "../../protocol/index.ts";
import { type CallRecord, Draft, type Plan, type Snapshot, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { subjectOf } from "../questions/index.ts";
import type { Case, Decider, DecisionTarget, RefusedDecision, Whole } from "./decision.ts";

/** What somebody tried, and why it was refused. */
export interface Tried {
  readonly code: ErrorCode;
  readonly what: "decide" | "settle" | "cancel";
}

const KIND = "refused-decisions";
/** How many refusals of one person, about one question, are journalled. A button can be pressed without end. */
const MOST_NOTED = 10;
const KEPT_MS = 30 * 24 * 3_600_000;

/** Journals that somebody tried something without the right to do it. Nothing else changes. */
export function recordRefusal(
  parts: EngineParts,
  { session, now, call }: Snapshot & { readonly call: CallRecord },
  { by, via }: Decider,
  tried: Tried,
): Draft {
  const { id, kind, authenticated } = by;
  const draft = new Draft(parts, now, session);
  const body = { call: call.id, tool: call.tool, ...tried, by: { id, kind, authenticated }, via };
  return draft.journal("decision-refused", body);
}

/**
 * Journals that somebody was refused before the confirmation's own rule was asked. False if there is no such
 * confirmation or call.
 */
export async function noteRefusal(
  parts: EngineParts,
  target: DecisionTarget,
  { decider, tried }: { readonly decider: Decider; readonly tried: Tried },
): Promise<boolean> {
  return transact<boolean>(parts, target, async (snapshot) => {
    const { call, confirmation } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) return { value: false };
    const draft = recordRefusal(parts, { ...snapshot, call }, decider, tried);
    const about = { subject: confirmation?.id ?? call.id, code: tried.code, now: snapshot.now, decider };
    return withinLimit(parts, { draft, value: true }, about);
  });
}

interface RefusedAbout {
  readonly subject: string;
  readonly code: ErrorCode;
  readonly now: number;
  readonly decider: Decider;
}

/**
 * The same plan, without its record if a channel has sent too many attempts of this person about this. Other doors need a login
 * and have limits of their own. The count is committed with the record.
 */
async function withinLimit<T>(
  { ledger }: EngineParts,
  { draft, value }: Required<Pick<Plan<T>, "draft" | "value">>,
  { subject, code, now, decider: { by } }: RefusedAbout,
): Promise<Plan<T>> {
  if (by.kind !== "channel") return { draft, value };
  const id = hash("sha256", JSON.stringify([subject, code, by.id]));
  const item = await ledger.items.get(KIND, id);
  const noted = typeof item?.value === "number" ? item.value : 0;
  if (noted >= MOST_NOTED) return { value };
  const write = { kind: KIND, id, value: noted + 1, expiresAt: now + KEPT_MS };
  draft.write({ kind: "item", item: write, read: item?.version ?? 0 });
  return { draft, value };
}

/** Refuses a decision and journals that; nothing else changes. */
export async function auditedRefusal(
  parts: EngineParts,
  whole: Whole,
  { input, decider }: Case,
  refused: RefusedDecision,
): Promise<Plan<RefusedDecision>> {
  const { confirmation, call, now } = whole;
  const { id, kind, authenticated } = decider.by;
  const draft = new Draft(parts, whole.now, whole.session);
  draft.journal("decision-refused", {
    ...subjectOf(confirmation, call),
    code: refused.code,
    by: { id, kind, authenticated },
    via: decider.via,
    confirmed: input.confirmed,
  });
  const value = { ...refused, confirmation, call };
  const { code } = refused;
  return withinLimit(parts, { draft, value }, { subject: confirmation.id, code, now, decider });
}
