import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createA2aApp } from "../../../src/a2a/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { Agent, createEngine, Runner, withConfirmation } from "../../../src/index.ts";
import { McpEndpoint, McpGateway, McpToolset, type McpToolsetOptions } from "../../../src/mcp/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { AdkClient } from "../../support/http/adk-client.ts";
import { serveApp } from "../../support/http/serve-app.ts";
import { scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { useResources } from "../../support/resources.ts";
import { stateOf, taskIn, Wire } from "../a2a/a2a-server.ts";
import { toolNamed } from "./gateway-process.ts";

const resources = useResources();
const SECRET = "token-of-ana-8f1c";

interface Heard {
  readonly method: string;
  readonly headers: Headers;
}

interface Site {
  readonly url: string;
  /** What the server was sent, in order. */
  readonly heard: Heard[];
  /** The headers of the calls of its tools. */
  readonly calls: () => readonly Headers[];
}

/** A real MCP server over HTTP that remembers the headers of what it is sent. */
async function site(): Promise<Site> {
  const { server } = await scriptedPeer(await resources.folder(), [toolNamed("look"), toolNamed("pay")]);
  const engine = await createEngine({ ledger: "memory:" });
  const gateway = new McpGateway({ engine, name: "peer", server, require: [], by: { id: "ana" } });
  const endpoint = new McpEndpoint(gateway);
  const heard: Heard[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const text = request.method === "POST" ? await request.clone().text() : "{}";
    heard.push({
      method: (JSON.parse(text) as { method?: string }).method ?? "",
      headers: request.headers,
    });
    return endpoint.fetch(request);
  };
  const listening = await serve({ app: { fetch }, port: 0 });
  resources.add(async () => {
    await gateway.close();
    await endpoint.close();
    await listening.close({ graceMs: 0 });
    await engine.close();
  });
  const calls = (): readonly Headers[] =>
    heard.filter(({ method }) => method === "tools/call").map(({ headers }) => headers);
  return { url: `${listening.url}/mcp`, heard, calls };
}

/** Looks and wants to pay; then says what came of it. */
const buyer = scripted(({ contents }) => {
  const answers = (contents.at(-1)?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []);
  if (answers.length > 0) return JSON.stringify(answers.map(({ response }) => response));
  return [{ functionCall: { name: "look", args: {} } }, { functionCall: { name: "pay", args: {} } }];
});

function shop(url: string, options: Partial<McpToolsetOptions> = {}, ledger = "memory:"): Runner {
  const set = new McpToolset({
    name: "shop",
    server: { url },
    confirmation: { named: ["pay"] },
    allowedHeaders: ["X-Tenant", "Authorization"],
    ...options,
  });
  const runner = new Runner({ agent: new Agent({ name: "shop", model: buyer, tools: [set] }), ledger });
  resources.add(async () => {
    await runner.close();
    await set.close();
  });
  return runner;
}

const ANAS = { "x-tenant": "acme", "x-other": "mine", authorization: SECRET };

function expectAnas(headers: Headers | undefined): void {
  expect(["x-tenant", "authorization", "x-other"].map((name) => headers?.get(name))).toEqual([
    "acme",
    SECRET,
    null,
  ]);
}

describe("headers that are allowed reach the server with the run's calls, and only with those", () => {
  test("over the ADK's routes; whoever approves lends it none of theirs", async () => {
    const { url, heard, calls } = await site();
    const runner = shop(url);
    const server = await serveApp(resources, { apps: { shop: runner } });
    const ana = new AdkClient({ url: server.url }, { app: "shop", user: "ana", headers: ANAS });
    await ana.createSession("s");
    await ana.run("s", "buy");
    expect(calls()).toHaveLength(1);
    const [open] = await runner.pending();
    const decision = await fetch(`${server.url}/v1/confirmations/${open?.id}/decision?wait=20`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-tenant": "evil", authorization: "token-of-eve" },
      body: JSON.stringify({ confirmed: true }),
    });
    expect(await decision.json()).toMatchObject({ status: "succeeded" });
    expect(calls()).toHaveLength(2);
    for (const headers of calls()) expectAnas(headers);
    const others = heard.filter(({ method }) => method !== "tools/call");
    expect(others.some(({ headers }) => headers.has("x-tenant") || headers.has("authorization"))).toBe(false);
  });

  test("over A2A", async () => {
    const { url, calls } = await site();
    const runner = shop(url, { confirmation: "none" });
    const mounts = [createA2aApp({ apps: { shop: runner } })];
    const server = await serveApp(resources, { apps: { shop: runner }, mounts });
    const wire = new Wire({ url: `${server.url}/a2a/shop` }, { headers: ANAS });
    expect(stateOf(taskIn(await wire.say("buy")))).toBe("completed");
    expect(calls()).toHaveLength(2);
    for (const headers of calls()) expectAnas(headers);
  });

  test("by a program; each run with its own, those of the server first, none where there were none", async () => {
    const { url, calls } = await site();
    const set = { confirmation: "none", server: { url, headers: { "X-Tenant": "ours" } } } as const;
    const runner = shop(url, set);
    const send = async (headers: Record<string, string>) =>
      runner.send("buy", { user: "ana", requestHeaders: new Headers(headers) });
    await Promise.all([send({ authorization: "one" }), send({ authorization: "two", "x-tenant": "acme" })]);
    await runner.send("buy", { user: "ana" });
    expect(calls().map((headers) => headers.get("x-tenant"))).toEqual(Array(6).fill("ours"));
    const logins = calls().map((headers) => headers.get("authorization") ?? "none");
    expect(logins.toSorted()).toEqual(["none", "none", "one", "one", "two", "two"]);
  });
});

describe("where the request is not known any more", () => {
  test("the call is not made, and says why; the header was never stored", async () => {
    const { url, calls } = await site();
    const file = join(await resources.folder(), "shop.db");
    const first = shop(url, {}, `sqlite:${file}`);
    const { pending } = await first.send("buy", { user: "ana", requestHeaders: new Headers(ANAS) });
    expect(calls()).toHaveLength(1);
    const stored = await Promise.all([file, `${file}-wal`].map((path) => readFile(path).catch(() => "")));
    expect(stored.some((bytes) => bytes.includes(SECRET))).toBe(false);
    await first.close();
    const second = shop(url, {}, `sqlite:${file}`);
    const done = await (await second.approve(pending[0]?.id ?? "", { by: { id: "ana" } })).finished;
    expect(done.text).toContain("pay of shop was not called");
    expect(done.text).toContain("X-Tenant, Authorization");
    expect(calls()).toHaveLength(1);
  });

  test("a set behind a gate of its own asks for them all the same", async () => {
    const { url, calls } = await site();
    const set = new McpToolset({ name: "shop", server: { url }, allowedHeaders: ["x-tenant"] });
    resources.add(() => set.close());
    const agent = new Agent({ name: "shop", model: buyer, tools: [withConfirmation(set)] });
    const runner = new Runner({ agent, ledger: "memory:" });
    resources.add(() => runner.close());
    const { pending } = await runner.send("buy", { user: "ana", requestHeaders: new Headers(ANAS) });
    for (const { id } of pending) await runner.approve(id, { by: { id: "ana" } });
    await expect.poll(() => calls().map((headers) => headers.get("x-tenant"))).toEqual(["acme", "acme"]);
  });
});

test.each([
  ["Host", "Host is set by the connection itself"],
  ["mcp-session-id", "is set by the connection"],
  ["a b", '"a b" is not a valid header name'],
])("a header that cannot be passed on is refused: %s", (name, message) => {
  const server = { url: "http://127.0.0.1:9/mcp" };
  expect(() => new McpToolset({ name: "x", server, allowedHeaders: [name] })).toThrow(message);
});
