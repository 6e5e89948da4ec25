import type { ActedBy, LateEnd } from "../journal/index.ts";
import type { CallRecord, ConfirmationRecord, Draft, FrameRecord, Snapshot } from "../ledger/index.ts";
import { subjectOf, writeClosingEvent } from "./close-question.ts";

export interface UnknownReason {
  readonly reason: string;
  /** The last known attempt; the next one must have a higher number. */
  readonly attempt: number;
  /** More information for the person who settles it. */
  readonly more?: LateEnd & Partial<ActedBy>;
}

/**
 * Makes a call `unknown` that the ledger shows as not started. Its open question is withdrawn, because nobody must
 * approve a call that already ran.
 */
export function writeUnknown(
  draft: Draft,
  held: Pick<Snapshot, "confirmation" | "frame"> & { readonly call: CallRecord },
  { reason, attempt, more = {} }: UnknownReason,
): CallRecord {
  const { call, confirmation, frame } = held;
  if (confirmation?.status === "requested") closeQuestion(draft, { call, confirmation, frame }, reason);
  draft.journal("call-unknown", { call: call.id, tool: call.tool, attempt, reason, ...more });
  // No owner: a late result is only journalled, and the person who settles the call decides.
  const owner = call.owner === undefined ? {} : { owner: null };
  return draft.moveCall(call, "mark-unknown", { attempt, ...owner });
}

/** Makes a call `unknown` that may have run and must not run again, for this reason. */
export function writeMayHaveRun(
  draft: Draft,
  held: Parameters<typeof writeUnknown>[1],
  { reason, by }: { readonly reason: string; readonly by?: ActedBy },
): CallRecord {
  const { attempt, status: statusThen } = held.call;
  const told = `it was started and may have run, and it may not run again: ${reason}`;
  return writeUnknown(draft, held, { reason: told, attempt, more: { statusThen, ...by } });
}

function closeQuestion(
  draft: Draft,
  question: {
    readonly call: CallRecord;
    readonly confirmation: ConfirmationRecord;
    readonly frame: FrameRecord | undefined;
  },
  reason: string,
): void {
  const { call, confirmation } = question;
  draft.moveConfirmation(confirmation, "withdraw", { withdrawal: reason });
  writeClosingEvent(draft, { ...question, closing: { how: "withdraw", reason } });
  draft.journal("confirmation-cancelled", { ...subjectOf(confirmation, call), reason, callMayHaveRun: true });
}
