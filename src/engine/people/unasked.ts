import type { CallRecord } from "../ledger/index.ts";
import type { Ruled } from "./authority.ts";
import { oneApproval } from "./requirement.ts";

/**
 * The rule for a call that nobody was asked about. One that ran under a grant: those who may give such a grant. Else its
 * requester may settle it. An agent may not, so what an agent did for itself may be settled by any other known person.
 */
export function ruleWithoutQuestion(
  call: Pick<CallRecord, "requesters" | "asker" | "grant" | "app" | "tool">,
  user: string,
): Ruled {
  if (call.grant !== undefined) {
    const { id: _id, by: _by, took: _took, scope: _scope, ...rule } = call.grant;
    return { ...rule, app: call.app, tool: call.tool };
  }
  const requesters = call.requesters ?? [user];
  return {
    requirements: oneApproval(isAgentsOwn(call) ? { notRequester: true } : "requester"),
    requesters,
  };
}

/** Who may settle a call: as its last question says. Under a grant, what the function itself asked does not matter. */
export function ruleOfSettling(
  call: Parameters<typeof ruleWithoutQuestion>[0],
  question: Ruled | undefined,
  user: string,
): Ruled {
  return question === undefined || call.grant !== undefined ? ruleWithoutQuestion(call, user) : question;
}

/** Did an agent ask for this call, on nobody's behalf? */
export function isAgentsOwn({ asker, requesters = [] }: Pick<CallRecord, "requesters" | "asker">): boolean {
  return asker?.kind === "agent" && requesters.length === 1;
}
