// Code written for Google's ADK; only the imports are changed.
import assert from "node:assert/strict";
import { scripted } from "../src/models/scripted/index.ts";

const model = scripted(({ contents }) => {
  const results = contents.at(-1)?.parts.flatMap((part) => part.functionResponse ?? []) ?? [];
  const [result] = results;
  if (result !== undefined) return `It said ${JSON.stringify(result.response)}.`;
  return [{ functionCall: { name: "request_time_off", args: { days: 5 } } }];
});

// #region tool
import { z } from "zod";
import { FunctionTool, InMemoryRunner, LlmAgent } from "../src/index.ts";

const requestTimeOff = new FunctionTool({
  name: "request_time_off",
  description: "Request days off for the employee.",
  parameters: z.object({ days: z.number() }),
  execute: async ({ days }, toolContext) => {
    const confirmation = toolContext?.toolConfirmation;
    if (!confirmation) {
      toolContext?.requestConfirmation({ hint: `Approve ${days} days?`, payload: { approved_days: 0 } });
      return { status: "PENDING_MANAGER_APPROVAL" };
    }
    return { status: "SUCCESS", approved: confirmation.payload };
  },
});
const rootAgent = new LlmAgent({ name: "HR_Assistant", model, tools: [requestTimeOff] });
// #endregion

// #region run
const runner = new InMemoryRunner({ agent: rootAgent, appName: "hr" });
const { id: sessionId } = await runner.sessionService.createSession({ appName: "hr", userId: "ana" });
const newMessage = { role: "user", parts: [{ text: "I want 5 days off" }] };

let requestId = "";
for await (const event of runner.runAsync({ userId: "ana", sessionId, newMessage })) {
  for (const id of event.longRunningToolIds ?? []) requestId = id;
}

const approval = {
  functionResponse: {
    id: requestId,
    name: "adk_request_confirmation",
    response: { confirmed: true, payload: { approved_days: 3 } },
  },
};
const answer = { role: "user", parts: [approval] };
for await (const event of runner.runAsync({ userId: "ana", sessionId, newMessage: answer })) {
  console.log(event.author, event.content?.parts[0]); // the tool's result, and then what the model says
}
// #endregion

const session = await runner.sessionService.getSession({ appName: "hr", userId: "ana", sessionId });
assert.deepEqual(session?.events.at(-1)?.content?.parts, [
  { text: 'It said {"status":"SUCCESS","approved":{"approved_days":3}}.' },
]);
assert.equal(
  new Set(session?.events.map(({ invocationId }) => invocationId)).size,
  1,
  "one invocation, resumed",
);
await runner.close();
