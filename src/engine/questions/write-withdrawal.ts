import { cancelledAnswer, writeAnswer } from "../frames/index.ts";
import type {
  CallRecord,
  ConfirmationRecord,
  Conflict,
  Draft,
  FrameRecord,
  Snapshot,
} from "../ledger/index.ts";
import { mayHaveRun, nextConfirmation } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { writeClosing } from "./close-question.ts";
import { writeMayHaveRun } from "./mark-unknown.ts";

export interface WithdrawalInput {
  readonly reason: string;
  readonly owner: string | undefined;
  readonly last: Conflict | undefined;
}

export interface Withdrawn {
  readonly call: CallRecord;
  readonly confirmation?: ConfirmationRecord;
  readonly stepping?: FrameRecord;
}

/** Withdraws a call that has not started, and its question if that can still be withdrawn. One that may have run becomes `unknown`. */
export function writeWithdrawal(
  parts: EngineParts,
  draft: Draft,
  held: Snapshot & { readonly call: CallRecord },
  { reason, owner, last }: WithdrawalInput,
): Withdrawn {
  const { call, confirmation, frame } = held;
  if (mayHaveRun(call)) return { call: writeMayHaveRun(draft, held, { reason }) };
  if (confirmation !== undefined && nextConfirmation(confirmation.status, "withdraw") !== undefined) {
    return writeClosing(parts, draft, {
      confirmation,
      call,
      frame,
      closing: { how: "withdraw", reason },
      owner,
      last,
    });
  }
  draft.journal("call-cancelled", { call: call.id, tool: call.tool, reason });
  return writeAnswer(parts, draft, {
    call,
    frame,
    command: "cancel",
    result: cancelledAnswer(reason, call),
    owner,
    last,
  });
}
