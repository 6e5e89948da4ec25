import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ENTRY, type Folder, makeFolder } from "../../support/processes/command-line.ts";
import {
  approve,
  connectHttp,
  gatewayEnv,
  peerCommand,
  program,
  startGatewayClient,
  startHttpGateway,
  text,
  toolNamed,
  waiting,
} from "./gateway-process.ts";

const EVERYTHING = [process.execPath, program("@modelcontextprotocol/server-everything"), "stdio"];

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly [member: string]: unknown;
}

/** Sends bare messages, line by line, to whatever is started, and reads what comes back. */
class BareClient {
  readonly received: Message[] = [];
  readonly #child: ChildProcess;

  constructor([command = "", ...args]: readonly string[], folder: Folder) {
    const stdio = ["pipe", "pipe", "ignore"] as const;
    this.#child = spawn(command, args, { cwd: folder.path, env: gatewayEnv(folder), stdio: [...stdio] });
    onTestFinished(() => {
      this.#child.kill("SIGKILL");
    });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("no output");
    createInterface({ input: stdout }).on("line", (line) => this.received.push(JSON.parse(line) as Message));
  }

  send(...messages: readonly Message[]): void {
    const [first, ...more] = messages.map((message) => ({ jsonrpc: "2.0", ...message }));
    // Several at once are a batch.
    this.#child.stdin?.write(`${JSON.stringify(more.length === 0 ? first : [first, ...more])}\n`);
  }

  async answers(count: number): Promise<readonly Message[]> {
    const read = () => this.received.filter(({ method }) => method === undefined);
    await vi.waitUntil(() => read().length === count, { timeout: 30_000 });
    return read().toSorted((one, other) => Number(one.id ?? -1) - Number(other.id ?? -1));
  }

  /** Makes the handshake, and sends this with its last message. */
  async begin(capabilities: object = {}, behind?: Message): Promise<void> {
    const clientInfo = { name: "bare", version: "1" };
    this.send({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities, clientInfo },
    });
    await this.answers(1);
    this.#child.stdin?.cork();
    this.send({ method: "notifications/initialized" });
    if (behind !== undefined) this.send(behind);
    this.#child.stdin?.uncork();
  }
}

const REQUESTS: readonly Message[] = [
  { method: "ping" },
  { method: "resources/list" },
  { method: "resources/templates/list" },
  { method: "resources/read", params: { uri: "demo://resource/static/document/features.md" } },
  { method: "resources/read", params: { uri: "demo://nowhere" } },
  { method: "resources/subscribe", params: { uri: "demo://resource/static/document/features.md" } },
  { method: "prompts/list" },
  { method: "prompts/get", params: { name: "args-prompt", arguments: { city: "Rome" } } },
  {
    method: "completion/complete",
    params: {
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "department", value: "E" },
    },
  },
  { method: "logging/setLevel", params: { level: "debug" } },
  { method: "tools/call", params: { name: "echo", arguments: { message: "hi" }, _meta: { anything: [1] } } },
  { method: "tools/call", params: { name: "get-structured-content", arguments: { location: "Chicago" } } },
  { method: "tasks/list" },
  { method: "nobody/knows", params: { this: "one" } },
];

test("what needs no approval is answered as without us, word for word: also what nobody knows", async () => {
  const folder = makeFolder();
  const gated = [process.execPath, ENTRY, "mcp", "--require", "get-sum", "--", ...EVERYTHING];
  const [direct, through] = await Promise.all(
    [EVERYTHING, gated].map(async (command) => {
      const client = new BareClient(command, folder);
      await client.begin({ roots: { listChanged: true } });
      for (const [index, request] of REQUESTS.entries()) client.send({ ...request, id: index + 1 });
      return client.answers(REQUESTS.length + 1);
    }),
  );
  expect(through).toEqual(direct);
});

test("what could be a gated call in disguise reaches neither the server nor a person", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, [toolNamed("echo")]);
  const client = new BareClient([process.execPath, ENTRY, "mcp", "--", ...peer.command], folder);
  await client.begin();
  const params = { name: "echo", arguments: { message: "hi" } };
  client.send({ method: "tools/call", params });
  client.send({ id: null, method: "tools/call", params });
  client.send({ id: 5, method: "tools/call", params }, { id: 6, method: "ping" });
  client.send({ id: 1, method: "tools/call", params: { ...params, name: ["echo"] } });
  client.send({ id: 2, method: "tools/call", params: { ...params, task: { ttl: 1 } } });
  client.send({ id: 3, method: "server/discover", params: {} });
  client.send({ id: 4, method: "ping" });
  const answers = await client.answers(7);
  expect(answers.map(({ id }) => id)).toEqual([null, null, 0, 1, 2, 3, 4]);
  for (const { id, error } of answers) expect(error === undefined).toBe(id === 0 || id === 4);
  await waiting(folder, 0);
  expect(await peer.calls()).toEqual([]);
});

test("a call on the heels of the handshake waits like any other", async () => {
  const folder = makeFolder();
  const peer = await peerCommand(folder, [toolNamed("echo")]);
  const client = new BareClient([process.execPath, ENTRY, "mcp", "--", ...peer.command], folder);
  const params = { name: "echo", arguments: {} };
  await client.begin({}, { id: 1, method: "tools/call", params });
  await waiting(folder);
  expect(await peer.calls()).toEqual([]);
});

/** A client that can be asked for anything, and what it was asked. */
function obliging(asked: string[]): (client: Client) => void {
  return (client) => {
    client.setRequestHandler("roots/list", () => {
      asked.push("roots");
      return { roots: [{ uri: "file:///tmp", name: "tmp" }] };
    });
    client.setRequestHandler("sampling/createMessage", () => {
      asked.push("sampling");
      return { model: "m", role: "assistant", content: { type: "text", text: "sampled" } };
    });
    client.setRequestHandler("elicitation/create", () => {
      asked.push("elicitation");
      return { action: "accept", content: { name: "Ana" } };
    });
  };
}

const CAPABILITIES = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } };

test("what a server asks of its client passes, also while an approved call runs", async () => {
  const folder = makeFolder();
  const asked: string[] = [];
  const names = ["trigger-sampling-request", "trigger-elicitation-request"];
  const { client } = await startGatewayClient(folder, ["--require", names.join(","), "--", ...EVERYTHING], {
    client: { capabilities: CAPABILITIES },
    setUp: obliging(asked),
  });
  await expect.poll(() => asked, { timeout: 20_000 }).toEqual(["roots"]);
  const [sampling, eliciting] = names.map((name) =>
    client.callTool({ name, arguments: name.includes("sampling") ? { prompt: "say" } : {} }),
  );
  for (const { id } of await waiting(folder, 2)) await approve(folder, id);
  expect(JSON.stringify(await sampling)).toContain("sampled");
  expect(JSON.stringify(await eliciting)).toContain("Ana");
  expect(asked.toSorted()).toEqual(["elicitation", "roots", "sampling"]);
});

/** What arrives: the client's own handler hears nothing of progress that is read together with the result. */
function overhearProgress({ transport }: Client): readonly number[] {
  const heard: number[] = [];
  const pass = transport?.onmessage;
  if (transport === undefined || pass === undefined) throw new Error("not connected");
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no event target
  transport.onmessage = (message, extra) => {
    if ("method" in message && message.method === "notifications/progress")
      heard.push(Number(message.params?.["progress"]));
    pass(message, extra);
  };
  return heard;
}

describe.each(["stdio", "http"] as const)("over %s", (kind) => {
  async function connect(folder: Folder, require: string, server: readonly string[]): Promise<Client> {
    const args = ["--require", require, "--", ...server];
    if (kind === "stdio") return (await startGatewayClient(folder, args)).client;
    return connectHttp((await startHttpGateway(folder, args)).url);
  }

  test("log messages of the server arrive, and the progress of a call, gated or not, only grows", async () => {
    const folder = makeFolder();
    const client = await connect(folder, "trigger-long-running-operation", EVERYTHING);
    const logged: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data));
    const progress = overhearProgress(client);
    const calling = client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 1, steps: 3 } },
      { onprogress: () => {} },
    );
    await client.callTool({ name: "toggle-simulated-logging", arguments: {} });
    const [open] = await waiting(folder);
    await expect.poll(() => progress.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await approve(folder, open?.id ?? "");
    expect(await calling).toMatchObject({
      content: [{ text: expect.stringContaining("completed") as string }],
    });
    expect(progress.length).toBeGreaterThan(3);
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
    await expect.poll(() => logged.length, { timeout: 20_000 }).toBeGreaterThan(0);
  });

  test("a cancelled call is cancelled at the server, too; a gated one is merely not waited for", async () => {
    const folder = makeFolder();
    const peer = await peerCommand(folder, [toolNamed("hang"), toolNamed("echo")]);
    const client = await connect(folder, "echo", peer.command);
    const stop = new AbortController();
    const long = client.callTool({ name: "hang", arguments: {} }, { signal: stop.signal });
    await expect.poll(peer.calls, { timeout: 20_000 }).toHaveLength(1);
    stop.abort();
    await expect(long).rejects.toThrow(/abort/i);
    await expect.poll(peer.cancelled, { timeout: 20_000 }).toBe(1);
    const giveUp = new AbortController();
    const request = { name: "echo", arguments: { message: "hi" } };
    const first = client.callTool(request, { signal: giveUp.signal });
    const [open] = await waiting(folder);
    giveUp.abort();
    await expect(first).rejects.toThrow(/abort/i);
    const held = Promise.withResolvers<unknown>();
    const again = client.callTool(request, { onprogress: held.resolve });
    await held.promise;
    await approve(folder, open?.id ?? "");
    expect(await again).toMatchObject({ content: text("did echo") });
    await waiting(folder, 0);
    expect([await peer.cancelled(), (await peer.calls()).length]).toEqual([1, 2]);
  });
});
