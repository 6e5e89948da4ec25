import { type ConfirmationRecord, eachOf, type Ledger, turnOf } from "../ledger/index.ts";

const PAGE = 100;

/**
 * The first question about a call, open or closed: the only one that the call's id identifies. The sender of a call id
 * may never have seen a later question.
 */
export async function firstQuestion(
  ledger: Pick<Ledger, "load" | "confirmations">,
  callId: string,
): Promise<ConfirmationRecord | undefined> {
  const { call, confirmation } = (await ledger.load({ call: callId })) ?? {};
  if (call === undefined || confirmation === undefined || confirmation.round === 0) return confirmation;
  const filter = { state: "closed", session: call.session, turn: turnOf(call) } as const;
  for await (const { confirmation: one } of eachOf((page) => ledger.confirmations(filter, page), PAGE))
    if (one.call === callId && one.round === 0) return one;
  return undefined;
}
