import { ask, client, type Outcome } from "../../../api/client.ts";
import type { Confirmation, SettlementInput } from "../../../api/types.ts";
import { board } from "../../inbox/board.ts";

/** Says what had become of a confirmed call, and shows what the server made of it. */
export async function settleConfirmation(
  id: string,
  settlement: SettlementInput,
  key: string,
): Promise<Outcome<Confirmation>> {
  const mark = board.mark();
  const outcome = await ask(client.confirmations.settle(id, settlement, { idempotencyKey: key }));
  if (outcome.ok) board.put(outcome.value, mark);
  return outcome;
}
