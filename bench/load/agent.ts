import { type Approvers, definitionDigest } from "../../src/engine/index.ts";
import { Agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { FULL } from "../../test/support/ledger/full-session.ts";

/** Which call of which session: what a tool and whoever approves it both know. */
export function callKey(session: string, callId: string): string {
  return `${session} ${callId}`;
}

/** An agent whose model answers at once and whose tool only says when it was entered. */
export function createAgent(onEnter: (key: string) => void, approvers: Approvers = "requester"): Agent {
  const model = scripted(({ contents }) => {
    const answered = contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined);
    return answered ? "Done." : [{ functionCall: { name: FULL.tool, args: FULL.args } }];
  });
  return new Agent({
    name: FULL.agent,
    model,
    instruction: "Be brief.",
    tools: [createTool(onEnter, approvers)],
  });
}

/** As a confirmation of the tool names it. */
export function toolDigest(): string {
  return definitionDigest(createTool(() => {}, "requester").definition);
}

function createTool(onEnter: (key: string) => void, approvers: Approvers): ReturnType<typeof tool> {
  return tool({
    name: FULL.tool,
    description: "Reimburses an amount.",
    parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
    requireConfirmation: true,
    approvers,
    execute: async (_args, { sessionId, functionCallId }) => {
      onEnter(callKey(sessionId, functionCallId));
      return { ok: true };
    },
  });
}
