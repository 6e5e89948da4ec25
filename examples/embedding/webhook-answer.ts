// A webhook receiver that answers a question for a person.

// #region answer
import { createHmac, randomUUID } from "node:crypto";

/** Sends a person's decision about a question that a webhook told of. `secret`: COUNTERSIGN_WEBHOOK_ANSWER_SECRET. */
async function sendAnswer(url: string, secret: string, data: object): Promise<Response> {
  const [id, at] = [randomUUID(), Math.floor(Date.now() / 1000)];
  const body = JSON.stringify({ type: "confirmation.answered", data });
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(at),
    "webhook-signature": `v1,${signature}`,
  };
  return fetch(`${url}/channels/webhook/answers`, { method: "POST", headers, body });
}

// #endregion

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInbound, startDeliveries } from "../../src/channels/index.ts";
import { createWebhookChannel, newWebhookSecret } from "../../src/channels/webhook/index.ts";
import { createApp } from "../../src/http/index.ts";
import { serve } from "../../src/http/node/index.ts";
import { createEngine } from "../../src/index.ts";

interface Question {
  readonly id: string;
  readonly answerTo: string;
}
const { promise: told, resolve: tell } = Promise.withResolvers<Question>();
const receiver = createServer((request, response) => {
  request.setEncoding("utf8");
  let text = "";
  request.on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", () => {
    tell((JSON.parse(text) as { readonly data: Question }).data);
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const engine = await createEngine({ ledger: "memory:" });
const { ledger } = engine;
const secret = newWebhookSecret();
const people = [{ id: "bob", webhook: "bob.n8n" }];
const channel = createWebhookChannel({
  url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
  secrets: [newWebhookSecret()],
  answers: { secrets: [secret], people, ledger },
});
const app = createApp({
  apps: {},
  engine,
  authenticate: () => undefined,
  mounts: [createInbound(engine, [channel])],
});
const server = await serve({ app, port: 0 });
const deliveries = startDeliveries({ ledger, channels: [channel] });
const approvers = { users: ["bob"] };
const pay = engine.gate("pay", { requireConfirmation: true, approvers }, async () => "paid");
await pay({ amount: 5 }, { key: "order-17", by: { id: "ana" } });
const { id: confirmation, answerTo } = await told;
const answer = { confirmation, answerTo, person: "bob.n8n", confirmed: true };
assert.equal((await sendAnswer(server.url, newWebhookSecret(), answer)).status, 401);
assert.equal((await sendAnswer(server.url, secret, answer)).status, 200);
assert.equal((await engine.confirmation(confirmation)).decision?.by.id, "bob");
await deliveries.stop();
await server.close({ graceMs: 0 });
receiver.close();
await engine.close();
