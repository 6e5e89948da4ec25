// Agents served over A2A, with the host's own login; a client gets a question and decides.

// #region serve
import { createA2aApp } from "../../src/a2a/index.ts";
import { createApp } from "../../src/http/index.ts";

const app = createApp({
  apps: { shop },
  authenticate: (request) => userOf(request),
  // At /a2a/shop, its card at /a2a/shop/.well-known/agent-card.json
  mounts: [createA2aApp({ apps: { shop }, security: "bearer", decisions: true })],
});

// #endregion

import { ok } from "node:assert/strict";
import { shop, userOf } from "./shop.ts";

const login = { "x-demo-user": "ana" };
const call = (init: RequestInit): Promise<Response> =>
  app.fetch(new Request("http://localhost/a2a/shop", init));

// #region client
const HITL = "https://kagent.dev/extensions/hitl/v1";

async function send(message: object): Promise<Task> {
  const answer = await call({
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", "a2a-extensions": HITL, ...login },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  const { result } = (await answer.json()) as { result: { task: Task } };
  return result.task;
}

const task = await send({ messageId: "m-1", role: "ROLE_USER", parts: [{ text: "Refund order 17" }] });
const [tool] = task.status.message?.metadata[HITL]?.tools ?? []; // what is about to happen
const done = await send({
  messageId: "m-2",
  role: "ROLE_USER",
  taskId: task.id,
  contextId: task.contextId,
  parts: [{ text: "Approved" }],
  extensions: [HITL],
  metadata: {
    [HITL]: { type: "tool_approval_response", approvals: [{ id: tool?.id, approved: true }] },
  },
});
// #endregion

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: {
    readonly state: string;
    readonly message?: {
      readonly metadata: {
        readonly [uri: string]: { readonly tools: readonly { id: string; name: string }[] };
      };
    };
  };
}

ok(task.status.state === "TASK_STATE_INPUT_REQUIRED" && tool?.name === "refund");
ok(done.status.state === "TASK_STATE_COMPLETED" && done.id === task.id);
await shop.close();
