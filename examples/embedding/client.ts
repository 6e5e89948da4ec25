// A program that decides with the typed client.

// #region client
import { CountersignProblem, createClient } from "../../src/client/index.ts";

const client = createClient({ baseUrl: url, headers: { "x-demo-user": "ana" } }); // or token: "cst_…"
const { items } = await client.confirmations.list({ tool: "refund" });
for (const { id } of items) {
  const { args, version } = await client.confirmations.get(id); // a list shows only the beginning of long arguments
  console.log(id, args);
  const done = await client.confirmations.decide(id, { confirmed: true, version }, { wait: 30 });
  console.log(done.status, done.result); // "succeeded" { refunded: true }
}
// #endregion

// #region refused
const refused = await client.confirmations.get("adk-none").catch((error: unknown) => error);
if (refused instanceof CountersignProblem) console.log(refused.status, refused.code, refused.hint);
// #endregion

// #region stream
for await (const message of client.stream({ lastEventId: "0" })) {
  if (message.type !== "confirmation") continue;
  console.log(message.id, message.confirmation.status);
  if (message.confirmation.status === "succeeded") break; // leaving the loop closes the connection
}

// #endregion

import assert from "node:assert/strict";
import { close, url } from "./served.ts";

assert.equal(items.length, 1);
assert.equal((await client.confirmations.get(items[0]?.id ?? "")).status, "succeeded");
assert.ok(refused instanceof CountersignProblem && refused.code === "unknown-confirmation");
await close();
