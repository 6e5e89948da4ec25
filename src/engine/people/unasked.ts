import type { CallRecord } from "../ledger/index.ts";
import type { Ruled } from "./authority.ts";
import { oneApproval } from "./requirement.ts";

/**
 * The rule for a call that nobody was asked about: its requester may settle it. An agent may not, so what an agent did
 * for itself may be settled by any other known person.
 */
export function ruleWithoutQuestion(call: Pick<CallRecord, "requesters" | "asker">, user: string): Ruled {
  const requesters = call.requesters ?? [user];
  return {
    requirements: oneApproval(isAgentsOwn(call) ? { notRequester: true } : "requester"),
    requesters,
  };
}

/** Did an agent ask for this call, on nobody's behalf? */
export function isAgentsOwn({ asker, requesters = [] }: Pick<CallRecord, "requesters" | "asker">): boolean {
  return asker?.kind === "agent" && requesters.length === 1;
}
