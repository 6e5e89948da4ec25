import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import { createEngine, type Engine } from "../../../src/index.ts";
import { McpGateway, type McpGatewayOptions } from "../../../src/mcp/index.ts";
import { connectClient, scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { useResources } from "../../support/resources.ts";
import { toolNamed } from "./gateway-process.ts";

const resources = useResources();
const by = { id: "local:ana", kind: "local" } as const;

interface Scene {
  readonly engine: Engine;
  readonly gateway: McpGateway;
  readonly calls: () => Promise<readonly string[]>;
}

async function scene(
  options: Partial<McpGatewayOptions> = {},
  db = "memory:",
  names: readonly string[] = ["look", "write", "die", "fail"],
): Promise<Scene> {
  const { server, calls } = await scriptedPeer(await resources.folder(), names.map(toolNamed));
  const engine = await createEngine({ ledger: db });
  const gateway = new McpGateway({ engine, name: "peer", server, by, ...options });
  resources.add(async () => {
    await gateway.close();
    await engine.close();
  });
  return { engine, gateway, calls };
}

function connect(gateway: McpGateway): Promise<Client> {
  return connectClient(resources, gateway);
}

async function opened(engine: Engine, count = 1): Promise<readonly string[]> {
  const read = async () =>
    (await engine.ledger.confirmations({ state: "open" })).items.map(({ confirmation }) => confirmation.id);
  await expect.poll(read).toHaveLength(count);
  return read();
}

const text = (value: string) => [{ type: "text", text: value }];

describe("through the gateway", () => {
  test("the client sees the server's own tools, and what is not gated passes at once", async () => {
    const { gateway, calls } = await scene({ require: ["write"] });
    const client = await connect(gateway);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      "look",
      "write",
      "die",
      "fail",
    ]);
    expect(client.getServerVersion()).toMatchObject({ name: "peer" });
    expect(await client.callTool({ name: "look", arguments: { path: "a" } })).toMatchObject({
      content: text("did look"),
    });
    expect(await calls()).toEqual(['call look {"path":"a"}']);
  });

  test("a gated call waits for a person, reports progress, and returns the server's own result", async () => {
    const { engine, gateway, calls } = await scene({ require: ["write"] });
    const client = await connect(gateway);
    const told: unknown[] = [];
    const calling = client.callTool(
      { name: "write", arguments: { path: "a" } },
      { onprogress: ({ message }) => void told.push(message) },
    );
    const [id = ""] = await opened(engine);
    expect((await engine.ledger.load({ confirmation: id }))?.confirmation).toMatchObject({
      app: "mcp:peer",
      tool: "write",
      shown: { source: expect.stringContaining("peer (") as string },
    });
    expect(await calls()).toEqual([]);
    await engine.approve(id, { by });
    expect(await calling).toMatchObject({ content: text("did write") });
    expect(await calls()).toEqual(['call write {"path":"a"}']);
    expect(told).toContain(`write waits for a person's approval (${id})`);
  });

  test("a denial is a tool result that says so, and nothing ran", async () => {
    const { engine, gateway, calls } = await scene();
    const client = await connect(gateway);
    const calling = client.callTool({ name: "write", arguments: {} });
    const [id = ""] = await opened(engine);
    await engine.deny(id, { by, reason: "not today" });
    expect(await calling).toMatchObject({
      isError: true,
      content: text("tool call was rejected by the user: not today"),
    });
    expect(await calls()).toEqual([]);
  });

  test("a client that gives up and calls again gets the same confirmation, and one run", async () => {
    const { engine, gateway, calls } = await scene();
    const impatient = await connect(gateway);
    const request = { name: "write", arguments: { path: "a" } };
    const giveUp = new AbortController();
    const first = impatient.callTool(request, { signal: giveUp.signal });
    const [id = ""] = await opened(engine);
    giveUp.abort();
    await expect(first).rejects.toThrow("abort");
    await impatient.close();
    const patient = await connect(gateway);
    const second = patient.callTool(request);
    const third = patient.callTool(request);
    await engine.approve(id, { by });
    expect(await second).toMatchObject({ content: text("did write") });
    expect(await third).toMatchObject({ content: text("did write") });
    expect(await calls()).toHaveLength(1);
    const anew = patient.callTool(request);
    const [other = ""] = await opened(engine);
    expect(other).not.toBe(id);
    await engine.deny(other, { by });
    await anew;
  });

  test("a client that calls again as soon as it has its outcome makes a new call", async () => {
    const folder = await resources.folder();
    const { engine, gateway, calls } = await scene({}, `sqlite:${join(folder, "ledger.db")}`);
    const client = await connect(gateway);
    const request = { name: "write", arguments: { path: "a" } };
    const twice = client.callTool(request).then(() => client.callTool(request));
    for (const round of [1, 2]) {
      const [id = ""] = await opened(engine);
      await engine.approve(id, { by });
      await expect.poll(calls).toHaveLength(round);
    }
    expect(await twice).toMatchObject({ content: text("did write") });
  });

  test("a call approved while no client was connected runs once, and the next client that asks gets the result", async () => {
    const { engine, gateway, calls } = await scene();
    const request = { name: "write", arguments: { path: "a" } };
    const gone = await connect(gateway);
    const lost = gone.callTool(request).catch(() => {});
    const [id = ""] = await opened(engine);
    await gone.close();
    await lost;
    const receipt = await tryApprove(engine, id, { by });
    if (!receipt.ok) throw new Error(receipt.message);
    await receipt.finished;
    expect(await calls()).toHaveLength(1);
    const client = await connect(gateway);
    expect(await client.callTool(request)).toMatchObject({ content: text("did write") });
    expect(await calls()).toHaveLength(1);
  });

  test("a server that is lost in the middle of a call leaves its outcome unknown, and the client gets that", async () => {
    const { engine, gateway, calls } = await scene();
    const client = await connect(gateway);
    const calling = client.callTool({ name: "die", arguments: {} }).catch((error: unknown) => error);
    const [id = ""] = await opened(engine);
    const receipt = await tryApprove(engine, id, { by });
    if (!receipt.ok) throw new Error(receipt.message);
    expect((await receipt.finished).status).toBe("unknown");
    await calling;
    expect(await calls()).toHaveLength(1);
  });

  test("a failure that the server reports is passed on as one", async () => {
    const { engine, gateway } = await scene();
    const client = await connect(gateway);
    const calling = client.callTool({ name: "fail", arguments: {} });
    const [id = ""] = await opened(engine);
    await engine.approve(id, { by });
    expect(await calling).toMatchObject({ isError: true, content: text("no such account") });
  });

  test("arguments that do not fit what the server says of its tool are refused before anybody is asked", async () => {
    const { engine, gateway } = await scene();
    const client = await connect(gateway);
    await expect(client.callTool({ name: "write", arguments: { path: 5 } })).rejects.toThrow("path");
    await opened(engine, 0);
  });
});

describe("what the server does meanwhile", () => {
  const mutating = ["write", "mutate"];

  test("a tool that it announces as changed does not run; a person is asked again", async () => {
    const { engine, gateway, calls } = await scene({ require: ["write"] }, "memory:", mutating);
    const client = await connect(gateway);
    const calling = client.callTool({ name: "write", arguments: {} });
    const [before = ""] = await opened(engine);
    const changed = Promise.withResolvers<unknown>();
    client.setNotificationHandler("notifications/tools/list_changed", changed.resolve);
    await client.callTool({ name: "mutate", arguments: {} });
    await changed.promise;
    expect(await tryApprove(engine, before, { by })).toMatchObject({ ok: false, code: "definition-changed" });
    const [after = ""] = await opened(engine);
    expect(after).not.toBe(before);
    const asked = (await engine.ledger.load({ confirmation: after }))?.confirmation;
    expect(asked?.shown.why.join()).toContain("changed");
    await engine.approve(after, { by });
    expect(await calling).toMatchObject({ content: text("did write") });
    expect(await calls()).toEqual(["call mutate {}", "call write {}"]);
  });

  test("a tool that it changed without a word is found out before it is run", async () => {
    const { engine, gateway, calls } = await scene({ require: ["write"] }, "memory:", ["write", "sneak"]);
    const client = await connect(gateway);
    const calling = client.callTool({ name: "write", arguments: {} });
    const [id = ""] = await opened(engine);
    await client.callTool({ name: "sneak", arguments: {} });
    await engine.approve(id, { by });
    expect(await calling).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("has changed since it was approved") as string }],
    });
    expect(await calls()).toEqual(["call sneak {}"]);
    const again = client.callTool({ name: "write", arguments: {} });
    const [anew = ""] = await opened(engine);
    await engine.approve(anew, { by });
    expect(await again).toMatchObject({ content: text("did write") });
  });

  test("an answer that it forges for a call that waits is not passed on", async () => {
    const { engine, gateway } = await scene({ require: ["write"] }, "memory:", ["write", "forge"]);
    const client = await connect(gateway);
    const calling = client.callTool({ name: "write", arguments: {} });
    const [id = ""] = await opened(engine);
    // It answers the ids 0 to 20, whoever they are of, and then this.
    await client.callTool({ name: "forge", arguments: {} });
    await engine.deny(id, { by });
    expect(await calling).toMatchObject({ isError: true });
  });
});

test("a server that brings a tool with a name of the protocol's is served without it", async () => {
  const { engine, gateway } = await scene({}, "memory:", ["adk_request_confirmation", "look"]);
  await gateway.open();
  const client = await connect(gateway);
  expect(await client.callTool({ name: "adk_request_confirmation", arguments: {} })).toMatchObject({
    isError: true,
    content: text('there is no tool "adk_request_confirmation"'),
  });
  await opened(engine, 0);
});

test("a call whose result was erased before delivery is reported as run, and does not run again", async () => {
  const { engine, gateway, calls } = await scene();
  const request = { name: "write", arguments: { path: "a" } };
  const gone = await connect(gateway);
  const lost = gone.callTool(request).catch(() => {});
  const [before = ""] = await opened(engine);
  await gone.close();
  await lost;
  const receipt = await tryApprove(engine, before, { by });
  if (!receipt.ok) throw new Error(receipt.message);
  await receipt.finished;
  expect(await engine.prune(-1_000)).toBe(1);
  const client = await connect(gateway);
  expect(await client.callTool(request)).toMatchObject({
    content: text("the call ran; its result was erased"),
  });
  expect(await calls()).toHaveLength(1);
});

test("a server without tools is served as it is", async () => {
  const { gateway } = await scene({}, "memory:", []);
  const client = await connect(gateway);
  await expect(client.ping()).resolves.toBeDefined();
  expect(await client.callTool({ name: "write", arguments: {} })).toMatchObject({
    isError: true,
    content: text('there is no tool "write"'),
  });
});

test("a call runs on the connection that asked for it, and on no other client's", async () => {
  const { engine, gateway, calls } = await scene({ require: ["who"] }, "memory:", ["who"]);
  const [one, two] = [await connect(gateway), await connect(gateway)];
  const calling = [one, two].map((client, i) =>
    client.callTool({ name: "who", arguments: { path: `${i}` } }),
  );
  for (const id of await opened(engine, 2)) await engine.approve(id, { by });
  const pids = (await Promise.all(calling)).map(({ content }) => JSON.stringify(content));
  expect(new Set(pids).size).toBe(2);
  expect(await calls()).toHaveLength(2);
});

test("names in require that the server does not list are refused before anybody is served", async () => {
  const { gateway } = await scene({ require: ["write", "wrte"] });
  await expect(gateway.open()).rejects.toThrow('has no tool "wrte"');
});
