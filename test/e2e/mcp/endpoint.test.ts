import { expect, test } from "vitest";
import { createEngine } from "../../../src/index.ts";
import { McpEndpoint, McpGateway } from "../../../src/mcp/index.ts";
import { scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { useResources } from "../../support/resources.ts";
import { toolNamed } from "./gateway-process.ts";

const resources = useResources();

async function endpoint(command = process.execPath): Promise<McpEndpoint> {
  const peer = await scriptedPeer(await resources.folder(), [toolNamed("look"), toolNamed("hang")]);
  const engine = await createEngine({ ledger: "memory:" });
  const server = { ...peer.server, command };
  const gateway = new McpGateway({ engine, name: "peer", server, require: [], by: { id: "ana" } });
  const made = new McpEndpoint(gateway);
  resources.add(async () => {
    await gateway.close();
    await made.close();
    await engine.close();
  });
  return made;
}

const HEADERS = {
  host: "127.0.0.1:8123",
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(to: McpEndpoint, { method = "POST", path = "/mcp", body, headers }: Sent): Promise<Response> {
  const request = new Request(`http://127.0.0.1:8123${path}`, {
    method,
    headers: { ...HEADERS, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return to.fetch(request);
}

/** Begins a session, and gives its id. */
async function begin(to: McpEndpoint): Promise<string> {
  const answer = await send(to, { body: INITIALIZE });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('"protocolVersion":"2025-06-18"');
  const session = answer.headers.get("mcp-session-id") ?? "";
  const told = await send(to, {
    body: { jsonrpc: "2.0", method: "notifications/initialized" },
    headers: { "mcp-session-id": session },
  });
  expect(told.status).toBe(202);
  return session;
}

const PING = { jsonrpc: "2.0", id: 2, method: "ping" };

test.each<[string, Sent, number]>([
  ["a name that was pointed at this machine", { body: INITIALIZE, headers: { host: "evil.test" } }, 403],
  ["a page of another site", { body: INITIALIZE, headers: { origin: "http://evil.test" } }, 403],
  ["a page of another port", { body: INITIALIZE, headers: { origin: "http://127.0.0.1:3000" } }, 403],
  ["a page without an origin of its own", { body: INITIALIZE, headers: { origin: "null" } }, 403],
  ["another path", { body: INITIALIZE, path: "/" }, 404],
  ["a form", { body: INITIALIZE, headers: { "content-type": "text/plain" } }, 415],
  ["a client that reads no streams", { body: INITIALIZE, headers: { accept: "application/json" } }, 406],
  ["no JSON", { body: "{" }, 400],
  ["several messages at once", { body: [INITIALIZE] }, 400],
  ["a request without a session", { body: PING }, 400],
  ["a request of a session that is over", { body: PING, headers: { "mcp-session-id": "x" } }, 404],
  ["listening without a session", { method: "GET" }, 400],
  ["another method", { method: "PUT", body: PING }, 405],
])("%s is turned away", async (_, sent, status) => {
  const answer = await send(await endpoint(), sent);
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({
    jsonrpc: "2.0",
    error: { message: expect.any(String) as string },
  });
});

test("a session answers until it is ended, and its id then leads nowhere", async () => {
  const to = await endpoint();
  const headers = { "mcp-session-id": await begin(to) };
  const answer = await send(to, { body: PING, headers });
  expect(await answer.text()).toBe('event: message\ndata: {"jsonrpc":"2.0","id":2,"result":{}}\n\n');
  const unknown = await send(to, {
    body: PING,
    headers: { ...headers, "mcp-protocol-version": "2099-01-01" },
  });
  expect(unknown.status).toBe(400);
  expect((await send(to, { method: "DELETE", headers })).status).toBe(204);
  await expect.poll(async () => (await send(to, { body: PING, headers })).status).toBe(404);
});

test("an id that is being answered cannot be used again", async () => {
  const to = await endpoint();
  const headers = { "mcp-session-id": await begin(to) };
  const body = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "hang", arguments: {} } };
  expect((await send(to, { body, headers })).status).toBe(200);
  expect((await send(to, { body, headers })).status).toBe(400);
});

test("a server that cannot be started fails the request for a session", async () => {
  const answer = await send(await endpoint("/nowhere/at/all"), { body: INITIALIZE });
  expect(answer.status).toBe(502);
  expect(JSON.stringify(await answer.json())).toContain("ENOENT");
});
