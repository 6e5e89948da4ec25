// A front end that speaks AG-UI: it shows the question, and sends the person's answer.

// #region agui
import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent({ url: `${url}/agui/shop`, threadId: "t1", headers: { "x-demo-user": "ana" } }); // or authorization: "Bearer cst_…"
agent.addMessage({ id: "m1", role: "user", content: "I want my money back" });
await agent.runAgent();

const [question] = agent.pendingInterrupts;
console.log(question?.message, question?.metadata); // "Approve execution of tool refund?" { tool: "refund", args: {}, … }
const resume = agent.pendingInterrupts.map(({ id: interruptId }) => {
  return { interruptId, status: "resolved" as const, payload: { approved: true } };
});
await agent.runAgent({ resume });
console.log(agent.messages.at(-1)?.content); // "It is on its way."

// #endregion

import assert from "node:assert/strict";
import { close, url } from "./served.ts";

assert.equal(question?.reason, "tool_call");
assert.equal(agent.messages.at(-1)?.content, "It is on its way.");
await close();
