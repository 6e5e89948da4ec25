// An MCP server whose payments wait for a person. The client is in the same process, so it needs no network and no key.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
// #region gate
import { McpServer } from "@modelcontextprotocol/server"; // or "@modelcontextprotocol/sdk/server/mcp.js"
import { z } from "zod";
import { gateServer } from "../../src/adapters/mcp-server/index.ts";
import { createEngine } from "../../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:mcp-server.db" });
const server = new McpServer({ name: "shop", version: "1.0.0" });

const gate = gateServer<{ pay: { amount: number; to: string } }>(server, {
  engine,
  app: "shop",
  // Your server knows whose connection it is: from the access token over HTTP, from the machine's user over stdio.
  identify: ({ authInfo }) => ({ thread: authInfo?.clientId ?? localUser }),
  rules: {
    pay: {
      requireConfirmation: ({ amount }) => amount > 100,
      hint: ({ amount, to }) => `Pay ${amount} EUR to ${to}?`,
      approvers: { users: ["boss"] },
      amendable: ["amount"],
    },
  },
  inbox: ({ id }) => `https://approvals.example/#/confirmations/${id}`,
  waitMs: 0, // Answer at once. Without it, the call waits for up to 45 seconds.
});

// As without the gate, and after it.
server.registerTool(
  "pay",
  {
    description: "Pays an amount to somebody.",
    inputSchema: z.object({ amount: z.number(), to: z.string() }),
  },
  async ({ amount, to }) => ({ content: [{ type: "text", text: send(amount, to) }] }),
);
// #endregion

const localUser = `local ${randomUUID()}`;
const payments: string[] = [];

function send(amount: number, to: string): string {
  payments.push(`${amount} to ${to}`);
  return `Paid ${amount}.`;
}

const [here, there] = InMemoryTransport.createLinkedPair();
await server.connect(there);
const client = new Client({ name: "agent", version: "1.0.0" });
await client.connect(here);

async function pay(amount: number): Promise<string> {
  const { content } = await client.callTool({ name: "pay", arguments: { amount, to: "Bob" } });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

assert.equal(await pay(20), "Paid 20.");
assert.match(await pay(250), /waits for a person's approval.* Call pay again later/);
const question = (await engine.pending({ app: "shop" })).find(({ session }) => session === localUser);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, {
  by: { id: "boss", authenticated: true },
  args: { amount: 200, to: "Bob" },
});
assert.match(await pay(250), /Paid 200[\s\S]*An approver changed the arguments/);
assert.deepEqual(payments, ["20 to Bob", "200 to Bob"], "the approved call ran once");

assert.match(await pay(250), /waits/, "its outcome was told, so this is another call");
assert.equal(await gate.cancel(localUser, "the user moved on"), 1);
assert.match(await pay(250), /the user moved on/);
await client.close();
await engine.close();
