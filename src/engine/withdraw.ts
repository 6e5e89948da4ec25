import { cancelledAnswer, writeAnswer } from "./answer.ts";
import { mayJudge, mayWithdraw, withoutRight } from "./authority.ts";
import { type Closed, writeClosing } from "./close.ts";
import type { Decider, Refusal, Whole } from "./decision.ts";
import { Draft } from "./draft.ts";
import type { Snapshot } from "./ledger.ts";
import { nextCall, nextConfirmation } from "./lifecycle.ts";
import type { EngineParts } from "./parts.ts";
import type { Principal } from "./principal.ts";
import type { CallRecord, ConfirmationRecord, FrameRecord } from "./records.ts";
import { recordRefusal } from "./refuse.ts";
import { type Conflict, type Plan, transact } from "./transact.ts";

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

/** Takes back a call that has not started, and its question where that can still be withdrawn. */
export function writeWithdrawal(
  parts: EngineParts,
  draft: Draft,
  held: Snapshot & { readonly call: CallRecord },
  { reason, owner, last }: WithdrawalInput,
): Withdrawn {
  const { call, confirmation, frame } = held;
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
    result: cancelledAnswer(reason),
    owner,
    last,
  });
}

/** A question that was taken back. */
export interface Cancelled extends Closed {
  readonly ok: true;
}

/** Withdraws an open question, or an approval whose call nobody has started. */
export async function cancel(
  parts: EngineParts,
  id: string,
  request: Decider & { readonly reason: string },
): Promise<Cancelled | Refusal> {
  return transact<Cancelled | Refusal>(parts, { confirmation: id }, async (snapshot, last) => {
    const { confirmation, call } = snapshot ?? {};
    if (snapshot === undefined || confirmation === undefined || call === undefined) {
      return {
        value: { ok: false, code: "unknown-confirmation", message: `There is no confirmation ${id}.` },
      };
    }
    return planCancellation(parts, { ...snapshot, confirmation, call }, { ...request, last });
  });
}

async function planCancellation(
  parts: EngineParts,
  whole: Whole,
  { by, via, reason, last }: Decider & { readonly reason: string; readonly last: Conflict | undefined },
): Promise<Plan<Cancelled | Refusal>> {
  const { confirmation, call, frame, session, now } = whole;
  if (!mayJudge(by) || !mayWithdraw(confirmation, by)) {
    const code = "forbidden" as const;
    const message = mayJudge(by) ? `${by.id} may not withdraw this.` : withoutRight(by);
    return {
      draft: recordRefusal(parts, whole, { by, via }, { code, what: "cancel" }),
      value: { ok: false, code, message, confirmation, call },
    };
  }
  const legal = nextConfirmation(confirmation.status, "withdraw") && nextCall(call.status, "cancel");
  if (legal === undefined || call.confirmation !== confirmation.id) {
    const message = `It is ${confirmation.status} and its call is ${call.status}; there is nothing left to withdraw.`;
    return { value: { ok: false, code: "not-cancellable", message, confirmation, call } };
  }
  const owner = parts.hosts.size === 0 ? undefined : await parts.lease.hold();
  // Undone by lost power, the question would be open again, and could be approved.
  const draft = new Draft(parts, now, session).sync();
  const closing = {
    how: "withdraw",
    reason: `${reason}${signatureOf(by)}`,
    decider: { by, via },
  } as const;
  const closed = writeClosing(parts, draft, { confirmation, call, frame, closing, owner, last });
  return { draft, value: { ok: true, ...closed } };
}

/** Was it this principal who withdrew it? Then the same request again has its answer already. */
export function isWithdrawnBy(
  { status, withdrawal }: Pick<ConfirmationRecord, "status" | "withdrawal">,
  by: Principal,
): boolean {
  return status === "cancelled" && withdrawal?.endsWith(signatureOf(by)) === true;
}

function signatureOf({ id }: Principal): string {
  return ` (withdrawn by ${id})`;
}
