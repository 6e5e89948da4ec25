import type { LateEnd, SaidBy } from "../journal/index.ts";
import type { CallRecord, ConfirmationRecord, Draft, FrameRecord, Snapshot } from "../ledger/index.ts";
import { subjectOf, writeClosingEvent } from "../questions/index.ts";

export interface UnknownReason {
  readonly reason: string;
  /** The last attempt that is known of: the next one has to be another. */
  readonly attempt: number;
  /** What else whoever settles it should know. */
  readonly more?: LateEnd & Partial<SaidBy>;
}

/**
 * Makes a call `unknown` that the ledger takes for one that has not begun. A question of it that is open is taken back:
 * nobody must be offered what ran already.
 */
export function writeUnknown(
  draft: Draft,
  held: Pick<Snapshot, "confirmation" | "frame"> & { readonly call: CallRecord },
  { reason, attempt, more = {} }: UnknownReason,
): CallRecord {
  const { call, confirmation, frame } = held;
  if (confirmation?.status === "requested") closeQuestion(draft, { call, confirmation, frame }, reason);
  draft.journal("call-unknown", { call: call.id, tool: call.tool, attempt, reason, ...more });
  // Nobody's: what comes of the attempt is kept in the journal, and the person who settles it decides.
  const owner = call.owner === undefined ? {} : { owner: null };
  return draft.moveCall(call, "doubt", { attempt, ...owner });
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
  draft.journal("confirmation-cancelled", { ...subjectOf(confirmation, call), reason, doubted: true });
}
