// A remote agent, called over A2A; its calls are decided here.
import { ok } from "node:assert/strict";
import { createA2aApp, RemoteAgent } from "../../src/a2a/index.ts";
import { createApp } from "../../src/http/index.ts";
import { serve } from "../../src/http/node/index.ts";
import { Agent, agentTool, Runner } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { shop, userOf } from "./shop.ts";

const a2a = createA2aApp({ apps: { shop }, security: "bearer", decisions: true });
const elsewhere = createApp({ apps: { shop }, authenticate: (request) => userOf(request), mounts: [a2a] });
const server = await serve({ app: elsewhere, port: 0 });
const login = { "x-demo-user": "office" };
const model = scripted(({ contents }) => {
  const answer = contents.at(-1)?.parts.at(-1)?.functionResponse?.response;
  return answer === undefined
    ? [{ functionCall: { name: "shop", args: { request: "Refund order 17" } } }]
    : JSON.stringify(answer);
});

// #region call
const remote = new RemoteAgent({
  name: "shop",
  description: "Refunds orders.",
  card: new URL(`${server.url}/a2a/shop/.well-known/agent-card.json`),
  headers: () => login, // the office's login at the shop
});
const office = new Runner({
  agent: new Agent({ name: "office", model, tools: [agentTool(remote)] }),
  ledger: "memory:",
});
const turn = await office.send("Ana wants her money back", { user: "ben" });
const [refund] = turn.pending; // the shop's call: refund, of the agent "shop", at office > shop
const { finished } = await office.approve(refund?.id ?? "", { by: { id: "ben" } });
const done = await finished; // the shop has run it, and the office has its answer
// #endregion

ok(turn.status === "paused" && refund?.tool === "refund" && refund.source === "shop");
ok(done.status === "completed" && done.text.includes("on its way"));
await office.close();
await server.close({ graceMs: 0 });
await shop.close();
