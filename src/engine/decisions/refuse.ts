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
  return transact<boolean>(parts, target, (snapshot) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) return { value: false };
    return { draft: recordRefusal(parts, { ...snapshot, call }, decider, tried), value: true };
  });
}

/** Refuses a decision and journals that; nothing else changes. */
export function auditedRefusal(
  parts: EngineParts,
  whole: Whole,
  { input, decider }: Case,
  refused: RefusedDecision,
): Plan<RefusedDecision> {
  const { confirmation, call } = whole;
  const { id, kind, authenticated } = decider.by;
  const draft = new Draft(parts, whole.now, whole.session);
  draft.journal("decision-refused", {
    ...subjectOf(confirmation, call),
    code: refused.code,
    by: { id, kind, authenticated },
    via: decider.via,
    confirmed: input.confirmed,
  });
  return { draft, value: { ...refused, confirmation, call } };
}
