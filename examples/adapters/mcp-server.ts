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
  // Your token verifier puts the user's id here. A `clientId` names a program, which many users share.
  identify: ({ authInfo }) => {
    const user = authInfo?.extra?.["sub"];
    if (typeof user !== "string") throw new Error("The access token names no user.");
    return { thread: user, user };
  },
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

const user = `user ${randomUUID()}`;
const payments: string[] = [];

function send(amount: number, to: string): string {
  payments.push(`${amount} to ${to}`);
  return `Paid ${amount}.`;
}

const [here, there] = InMemoryTransport.createLinkedPair();
// As an HTTP transport does with what the token verifier found.
const sendFrom = here.send.bind(here);
const authInfo = { token: "", clientId: "desktop", scopes: [], extra: { sub: user } };
here.send = (message, options) => sendFrom(message, { ...options, authInfo });
await server.connect(there);
const client = new Client({ name: "agent", version: "1.0.0" });
await client.connect(here);

async function pay(amount: number): Promise<string> {
  const { content } = await client.callTool({ name: "pay", arguments: { amount, to: "Bob" } });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

assert.equal(await pay(20), "Paid 20.");
assert.match(await pay(250), /waits for a person's approval.* Call pay again later/);
const question = (await engine.pending({ app: "shop" })).find(({ session }) => session === user);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, {
  by: { id: "boss", authenticated: true },
  args: { amount: 200, to: "Bob" },
});
assert.match(await pay(250), /Paid 200[\s\S]*An approver changed the arguments/);
assert.deepEqual(payments, ["20 to Bob", "200 to Bob"], "the approved call ran once");

assert.match(await pay(250), /waits/, "its outcome was told, so this is another call");
assert.equal(await gate.cancel(user, "the user moved on"), 1);
assert.match(await pay(250), /the user moved on/);
await client.close();
await engine.close();
