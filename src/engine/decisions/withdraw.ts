import { countingFor } from "../delegations/index.ts";
import { addSharedOf } from "../grants/index.ts";
import { type Conflict, Draft, type Plan, type SessionRecord, transact } from "../ledger/index.ts";
import { mayHaveRun, nextCall, nextConfirmation } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { mayJudge, mayWithdraw, withoutRight } from "../people/index.ts";
import { type Closed, writeClosing, writeMayHaveRun } from "../questions/index.ts";
import { type Decider, type RefusedDecision, refusal, type Whole } from "./decision.ts";
import { recordRefusal } from "./refuse.ts";
import { answerAgain, wasRecorded } from "./repeat.ts";

/** A withdrawn question. */
export interface Cancelled extends Closed {
  readonly ok: true;
  /** The same person had already withdrawn it. */
  readonly repeated: boolean;
  /** As it was before. */
  readonly session: SessionRecord;
}

/** Withdraws an open question, or an approval whose call has not started. */
export async function cancel(
  parts: EngineParts,
  id: string,
  request: Decider & { readonly reason: string },
): Promise<Cancelled | RefusedDecision> {
  return transact<Cancelled | RefusedDecision>(parts, { confirmation: id }, async (snapshot, last) => {
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
): Promise<Plan<Cancelled | RefusedDecision>> {
  const { confirmation, call, frame, session, now } = whole;
  const counting = await countingFor(parts, confirmation, now);
  if (!mayJudge(by) || !mayWithdraw(confirmation, by, counting)) {
    const code = "forbidden" as const;
    const message = mayJudge(by) ? `${by.id} may not withdraw this.` : withoutRight(by);
    return {
      draft: recordRefusal(parts, whole, { by, via }, { code, what: "cancel" }),
      value: { ok: false, code, message, confirmation, call },
    };
  }
  const legal = nextConfirmation(confirmation.status, "withdraw") && nextCall(call.status, "cancel");
  if (legal === undefined || call.confirmation !== confirmation.id) {
    const message = `The confirmation is ${confirmation.status} and its call is ${call.status}, so it cannot be withdrawn.`;
    const isSame = await wasRecorded(
      parts.ledger,
      session.key,
      ({ kind, body }) =>
        kind === "confirmation-cancelled" && body.confirmation === confirmation.id && body.by?.id === by.id,
    );
    const refused = { ...refusal("not-cancellable", message), confirmation, call };
    return { value: answerAgain(isSame, { session, confirmation, call }, refused) };
  }
  // If a power failure undid this, the question would be open again and could be approved.
  const draft = new Draft(parts, now, session).sync();
  const told = `${reason} (withdrawn by ${by.id})`;
  if (mayHaveRun(call)) {
    const { id, kind, authenticated } = by;
    const acted = { by: { id, kind, authenticated }, via };
    const unknown = writeMayHaveRun(draft, whole, { reason: told, by: acted });
    return { draft, value: { ...refusal("not-cancellable", MAY_HAVE_RUN), confirmation, call: unknown } };
  }
  const owner = parts.hosts.size === 0 ? undefined : await parts.lease.hold();
  await addSharedOf(parts, draft, confirmation);
  const closing = { how: "withdraw", reason: told, decider: { by, via } } as const;
  const closed = writeClosing(parts, draft, { confirmation, call, frame, closing, owner, last });
  return { draft, value: { ok: true, repeated: false, session, ...closed } };
}

const MAY_HAVE_RUN =
  "The call was started and may have run, so it cannot be withdrawn. It does not run again; settle its outcome, which is unknown.";
