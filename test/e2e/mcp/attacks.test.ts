import { spawn } from "node:child_process";
import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, test, vi } from "vitest";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import { createEngine, type Engine } from "../../../src/index.ts";
import { McpGateway } from "../../../src/mcp/index.ts";
import { scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { useResources } from "../../support/resources.ts";
import { toolNamed } from "./gateway-process.ts";

const resources = useResources();
const by = { id: "local:ana", kind: "local" } as const;

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly result?: object;
  readonly error?: object;
}

interface Scene {
  readonly engine: Engine;
  readonly received: readonly Message[];
  readonly send: (message: object) => void;
  /** Sends a request, and gives its answer. */
  readonly ask: (message: { readonly id: number; readonly [member: string]: unknown }) => Promise<Message>;
  readonly calls: () => Promise<readonly string[]>;
  /** The lines of the server's log. */
  readonly log: () => Promise<readonly string[]>;
}

interface SceneOptions {
  readonly require?: readonly string[];
  readonly handshake?: boolean;
  /** Of the protocol; the server takes any. */
  readonly version?: string;
}

/** A client without manners, the gateway, and a server with these tools. */
async function scene(
  tools: readonly object[],
  { require, handshake = true, version = "2025-06-18" }: SceneOptions = {},
): Promise<Scene> {
  const { server, log, calls } = await scriptedPeer(await resources.folder(), tools);
  const engine = await createEngine({ ledger: "memory:" });
  const options = require === undefined ? {} : { require };
  const gateway = new McpGateway({ engine, name: "peer", server, by, ...options });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const received: Message[] = [];
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no event target
  near.onmessage = (message) => void received.push(message as Message);
  await near.start();
  const served = gateway.serve(far);
  resources.add(async () => {
    await near.close();
    await served;
    await gateway.close();
    await engine.close();
  });
  const send = (message: object): void => {
    near.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage).catch(() => {});
  };
  const ask = async (message: {
    readonly id: number;
    readonly [member: string]: unknown;
  }): Promise<Message> => {
    send(message);
    return vi.waitUntil(() => received.find(({ id, method }) => id === message.id && method === undefined), {
      timeout: 20_000,
    });
  };
  const clientInfo = { name: "bare", version: "1" };
  const params = { protocolVersion: version, capabilities: {}, clientInfo };
  await ask({ id: 0, method: "initialize", params });
  if (handshake) send({ method: "notifications/initialized" });
  return { engine, received, send, ask, calls, log };
}

const call = (id: number, name: unknown, more: object = {}) => ({
  id,
  method: "tools/call",
  params: { name, arguments: { path: "a" }, ...more },
});

async function open(engine: Engine): Promise<readonly { readonly id: string; readonly tool: string }[]> {
  const { items } = await engine.ledger.confirmations({ state: "open" });
  return items.map(({ confirmation: { id, tool } }) => ({ id, tool }));
}

const numbered = (id: number, path = id) => call(id, "delete_file", { arguments: { path: `${path}` } });

test("a flood of calls does not fill the inbox, and waiting calls are found again", async () => {
  const { engine, received, send, ask, calls } = await scene([toolNamed("delete_file")]);
  for (let id = 1; id <= 130; id++) send(numbered(id));
  const told = () => received.filter(({ id, result }) => Number(id) > 0 && result !== undefined);
  await vi.waitUntil(() => told().length === 30, { timeout: 20_000 });
  for (const { result } of told())
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("100 calls") as string }],
    });
  expect(await engine.ledger.confirmations({ state: "open" }, { limit: 500 })).toMatchObject({
    items: { length: 100 },
  });
  const [oldest = { id: "" }] = await open(engine);
  // Asked about already, so it is not one more.
  send(numbered(200, 1));
  await engine.deny(oldest.id, { by });
  await vi.waitUntil(() => told().length >= 31, { timeout: 20_000 });
  send(numbered(201));
  await vi.waitUntil(
    async () => (await engine.ledger.confirmations({ state: "open" }, { limit: 500 })).items.length === 100,
    { timeout: 20_000 },
  );
  expect(await ask(numbered(202))).toMatchObject({ result: { isError: true } });
  expect(await calls()).toEqual([]);
});

describe("a name that the server does not list", () => {
  test.each([
    "Delete_File",
    "delete_file ",
    "delete_file\u200b",
    "d\u0435lete_file",
    "ｄelete_file",
    "nowhere",
    "",
  ])("%j reaches neither the server nor a person", async (name) => {
    const { engine, ask, calls } = await scene([toolNamed("look"), toolNamed("delete_file")], {
      require: ["delete_file"],
    });
    expect(await ask(call(1, name))).toMatchObject({ result: { isError: true } });
    expect(await ask(call(2, "look"))).toMatchObject({ result: { content: [{ text: "did look" }] } });
    expect(await calls()).toEqual(['call look {"path":"a"}']);
    expect(await open(engine)).toEqual([]);
  });

  test("is looked for once more: a server may have a new tool without having said so", async () => {
    const { ask, calls } = await scene([toolNamed("add"), toolNamed("look")], { require: [] });
    expect(await ask(call(1, "added"))).toMatchObject({ result: { isError: true } });
    expect(await ask(call(2, "add"))).toHaveProperty("result");
    expect(await ask(call(3, "added"))).toMatchObject({ result: { content: [{ text: "did added" }] } });
    expect(await calls()).toHaveLength(2);
  });
});

describe("a server that lists look-alike names", () => {
  test("one that only looks like the gated one waits as well", async () => {
    const { engine, ask, send, calls } = await scene([toolNamed("look"), toolNamed("Delete_File")], {
      require: ["delete_file"],
    });
    send(call(1, "Delete_File"));
    await expect.poll(() => open(engine)).toMatchObject([{ tool: "Delete_File" }]);
    await ask(call(2, "look"));
    expect(await calls()).toHaveLength(1);
  });

  test.each([
    ["twice", ["delete_file", "delete_file"]],
    ["in two cases", ["delete_file", "Delete_File"]],
  ])("a gated tool %s is asked about by nobody, and not run", async (_, names) => {
    const tools = names.map((name, index) => ({ ...toolNamed(name), description: `${index}` }));
    const { engine, ask, calls } = await scene(tools);
    for (const [index, name] of names.entries())
      expect(await ask(call(index + 1, name))).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringContaining("more than one") as string }] },
      });
    expect([await open(engine), await calls()]).toEqual([[], []]);
  });

  test("one that came beside an approved one keeps it from running", async () => {
    const { engine, ask, send, calls } = await scene([toolNamed("write"), toolNamed("clone")], {
      require: ["write"],
    });
    send(call(1, "write"));
    await expect.poll(() => open(engine)).toHaveLength(1);
    // From now on it lists each tool twice.
    await ask(call(2, "clone"));
    const [asked] = await open(engine);
    const receipt = await tryApprove(engine, asked?.id ?? "", { by });
    if (!receipt.ok) throw new Error(receipt.message);
    await receipt.finished;
    expect(await calls()).toEqual(['call clone {"path":"a"}']);
  });
});

describe("a gated call", () => {
  test.each<[string, object]>([
    ["with arguments in two cases", { arguments: { path: "a", Path: "/etc/passwd" } }],
    ["with such arguments inside", { arguments: { path: "a", more: [{ to: 1, TO: 2 }] } }],
    ["with arguments in a text", { arguments: '{"path":"a"}' }],
    ["with arguments in a list", { arguments: [] }],
    ["as a task", { task: { ttl: 1 } }],
    ["with a member nobody knows", { Arguments: { path: "/etc/passwd" } }],
  ])("%s is put before nobody", async (_, more) => {
    const { engine, ask, calls } = await scene([toolNamed("write")]);
    expect(await ask(call(1, "write", more))).toMatchObject({ error: { code: -32_602 } });
    expect([await open(engine), await calls()]).toEqual([[], []]);
  });

  test("before the handshake is done is refused", async () => {
    const { engine, ask } = await scene([toolNamed("write")], { handshake: false });
    expect(await ask(call(1, "write"))).toHaveProperty("error");
    expect(await open(engine)).toEqual([]);
  });

  test("under an id that waits already is refused", async () => {
    const { engine, send, received } = await scene([toolNamed("write"), toolNamed("hang")], {
      require: ["write"],
    });
    send(call(1, "write"));
    send(call(1, "hang"));
    send(call(1, "write", { arguments: {} }));
    await expect.poll(() => received.filter(({ error }) => error !== undefined)).toHaveLength(2);
    await expect.poll(() => open(engine)).toHaveLength(1);
  });
});

test("a protocol that the gateway does not know is not agreed on", async () => {
  const { received } = await scene([toolNamed("write")], { version: "2099-01-01", handshake: false });
  expect(received).toMatchObject([
    { id: 0, error: { message: expect.stringContaining("2099-01-01") as string } },
  ]);
});

test("an answer goes to the server only if it asked, and once", async () => {
  const { send, ask, log, received } = await scene([toolNamed("ask")], { require: [] });
  send({ id: "s1", result: { forged: 1 } });
  await ask(call(1, "ask"));
  await expect.poll(() => received.some(({ method }) => method === "roots/list")).toBe(true);
  send({ id: "s2", result: { forged: 2 } });
  send({ id: "s1", result: { roots: [] } });
  send({ id: "s1", result: { forged: 3 } });
  await ask({ id: 2, method: "ping" });
  expect((await log()).filter((line) => line.startsWith("answer"))).toEqual(['answer s1 {"roots":[]}']);
});

test("a cancellation goes to the server only for what it was passed", async () => {
  const { send, ask, log } = await scene([toolNamed("hang")], { require: [] });
  send({ method: "notifications/cancelled", params: { requestId: 77 } });
  send({ method: "notifications/cancelled", params: { requestId: 0 } });
  send(call(1, "hang"));
  await expect.poll(async () => (await log()).some((line) => line.startsWith("call"))).toBe(true);
  send({ method: "notifications/cancelled", params: { requestId: 1 } });
  await ask({ id: 2, method: "ping" });
  expect((await log()).filter((line) => line === "cancelled")).toHaveLength(1);
});

test("the example's server runs nothing that is not clearly a call", async () => {
  const folder = await mkdtemp(join(await resources.folder(), "files-"));
  const program = fileURLToPath(
    new URL("../../../examples/agents/file_manager/filesystem-server.mjs", import.meta.url),
  );
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, FILES_FOLDER: folder },
    stdio: ["pipe", "pipe", "inherit"],
  });
  resources.add(() => child.kill("SIGKILL"));
  const params = { name: "write_file", arguments: { path: "a", content: "x" } };
  const sent = [
    { jsonrpc: "2.0", id: 1, method: ["tools/call"], params },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { ...params, name: ["write_file"] } },
    { jsonrpc: "2.0", id: 3, method: "toString", params },
    [{ jsonrpc: "2.0", id: 4, method: "tools/call", params }],
    null,
  ];
  const answers: Message[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => answers.push(JSON.parse(line) as Message));
  for (const message of sent) child.stdin.write(`${JSON.stringify(message)}\n`);
  child.stdin.write('no json\n{"jsonrpc":"2.0","id":9,"method":"ping"}\n');
  await expect.poll(() => answers.at(-1)?.id, { timeout: 20_000 }).toBe(9);
  expect(answers.filter(({ result }) => result !== undefined)).toEqual([
    expect.objectContaining({ id: 2, result: expect.objectContaining({ isError: true }) as object }),
    expect.objectContaining({ id: 9 }),
  ]);
  expect(await readdir(folder)).toEqual([]);
});
