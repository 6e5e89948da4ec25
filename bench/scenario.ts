import type { EventDraft, PlannedCall } from "../src/engine/index.ts";
import { oneApproval } from "../src/engine/index.ts";

/** The names and texts of the one cycle that every contender goes through. */
export const APP = "finance";
export const USER = "ana@example.com";
export const AGENT = "finance_assistant";
export const TOOL = "reimburse";
export const HINT = `Approve execution of tool ${TOOL}?`;
export const WHY = "the tool requires confirmation";
export const DEFINITION_DIGEST = "v1:Zm9yIGJlbmNobWFya3Mgb25seSwgNDMgY2hhcmFjdGVycw";
export const AMOUNT = 2500;
const QUESTION = "Please reimburse me $2500 for the trip to the customer.";
const ANSWER = "Done: $2500 were reimbursed.";

export function userEvent(invocationId: string): EventDraft {
  return { author: "user", invocationId, content: { role: "user", parts: [{ text: QUESTION }] } };
}

export function modelEvent(invocationId: string, wireId: string): EventDraft {
  const functionCall = { id: wireId, name: TOOL, args: { amount: AMOUNT } };
  return { author: AGENT, invocationId, content: { role: "model", parts: [{ functionCall }] } };
}

export function finalEvent(invocationId: string): EventDraft {
  return { author: AGENT, invocationId, content: { role: "model", parts: [{ text: ANSWER }] } };
}

/** The model's one call, which needs a person. */
export function gatedCall(wireId: string): PlannedCall {
  return {
    wireId,
    tool: TOOL,
    args: { amount: AMOUNT },
    definitionDigest: DEFINITION_DIGEST,
    plan: {
      kind: "ask",
      question: {
        shown: { hint: HINT, why: [WHY] },
        requirements: oneApproval("requester"),
        requesters: [USER],
        expiresInMs: DEADLINE_MS,
      },
    },
  };
}

export const DEADLINE_MS: number = 24 * 60 * 60 * 1_000;
