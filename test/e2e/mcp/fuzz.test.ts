import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { createEngine, type Engine } from "../../../src/index.ts";
import { McpEndpoint, McpGateway, type McpServer, StdioClient } from "../../../src/mcp/index.ts";
import { effort } from "../../support/effort.ts";
import { Random, runSeed } from "../../support/random.ts";
import { useResources } from "../../support/resources.ts";
import { MUTATIONS, mutants, mutate } from "./mutations.ts";

const LAX = fileURLToPath(new URL("../../support/mcp/lax-server.mjs", import.meta.url));
const MESSAGES = effort({ short: 2_000, long: 10_000 });
const GROUP = 250;
const by = { id: "local:ana", kind: "local" } as const;
const resources = useResources();

interface Answer {
  readonly id?: number | null;
  readonly result?: { readonly content?: unknown };
  readonly error?: unknown;
}

/** A client that sends bytes as they are. */
interface RawClient {
  /** Sends one message, whatever comes of it. */
  send(bytes: Buffer | string): Promise<void>;
  /** Sends a request, and gives its answer. */
  ask(id: number, method: string, params?: object): Promise<Answer>;
}

interface Runs {
  readonly gated: number;
  readonly look: number;
}

async function newLog(): Promise<{ readonly path: string; readonly runs: () => Promise<Runs> }> {
  const path = join(await resources.folder(), "log");
  await writeFile(path, "");
  const runs = async (): Promise<Runs> => {
    const lines = (await readFile(path, "utf8")).split("\n");
    const count = (word: string): number => lines.filter((line) => line === word).length;
    return { gated: count("gated"), look: count("look") };
  };
  return { path, runs };
}

const message = (id: number, method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const initialize = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};

/** Reads answers line by line, and keeps those that somebody asked for. */
function overLines(input: NodeJS.WritableStream, output: NodeJS.ReadableStream): RawClient {
  const asked = new Map<number, (answer: Answer) => void>();
  createInterface({ input: output }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    asked.get(answer.id ?? -1)?.(answer);
  });
  const send = async (bytes: Buffer | string): Promise<void> => {
    input.write(bytes);
    if (!input.write("\n")) await once(input, "drain");
  };
  return {
    send,
    ask: async (id, method, params) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      asked.set(id, resolve);
      await send(message(id, method, params));
      return promise;
    },
  };
}

async function overHttp(gateway: McpGateway): Promise<RawClient> {
  const endpoint = new McpEndpoint(gateway);
  resources.add(() => endpoint.close());
  let session: string | undefined;
  const post = (body: Buffer | string): Promise<Response> =>
    endpoint.fetch(
      new Request("http://127.0.0.1:8123/mcp", {
        method: "POST",
        body: typeof body === "string" ? body : new Uint8Array(body),
        headers: {
          host: "127.0.0.1:8123",
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(session === undefined ? {} : { "mcp-session-id": session }),
        },
      }),
    );
  const ask = async (id: number, method: string, params?: object): Promise<Answer> => {
    const response = await post(message(id, method, params));
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    const text = await response.text();
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as Answer;
  };
  return { ask, send: async (bytes) => (await post(bytes)).body?.cancel() };
}

async function laxOverHttp(log: string): Promise<McpServer> {
  const child = spawn(process.execPath, [LAX, log, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  resources.add(() => child.kill("SIGKILL"));
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url: `http://127.0.0.1:${port}/mcp`, transport: "http" };
}

interface Scene {
  readonly engine: Engine;
  readonly client: RawClient;
  readonly runs: () => Promise<Runs>;
}

async function scene(kind: "stdio" | "http", require?: readonly string[]): Promise<Scene> {
  const { path, runs } = await newLog();
  const engine = await createEngine({ ledger: "memory:" });
  const server: McpServer =
    kind === "http" ? await laxOverHttp(path) : { command: process.execPath, args: [LAX, path, "stdio"] };
  const gateway = new McpGateway({
    engine,
    name: "lax",
    server,
    by,
    ...(require === undefined ? {} : { require }),
  });
  resources.add(async () => {
    await gateway.close();
    await engine.close();
  });
  await gateway.open();
  const client = kind === "http" ? await overHttp(gateway) : overStdio(gateway);
  expect(await client.ask(1, "initialize", initialize)).toHaveProperty("result");
  await client.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  return { engine, client, runs };
}

function overStdio(gateway: McpGateway): RawClient {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = gateway.serve(new StdioClient(input, output));
  resources.add(async () => {
    input.end();
    await served;
  });
  return overLines(input, output);
}

async function look(client: RawClient, id: number): Promise<void> {
  const answer = await client.ask(id, "tools/call", { name: "look", arguments: { path: "a" } });
  expect(answer.result?.content).toEqual([{ type: "text", text: "did it" }]);
}

describe.each(["stdio", "http"] as const)("over %s", (kind) => {
  test.each([["delete_file"], undefined])(
    `none of ${MESSAGES} messages that could be read as the gated call runs it (--require %s)`,
    async (...names) => {
      const require = names[0] === undefined ? undefined : ["delete_file"];
      const seed = runSeed();
      console.log(`COUNTERSIGN_SEED=${seed}`);
      const { client, runs } = await scene(kind, require);
      let sent = 0;
      for (const { bytes } of mutants(MESSAGES, new Random(seed))) {
        await client.send(bytes);
        sent += 1;
        if (sent % GROUP > 0) continue;
        // Whatever waits for a person is given up, and what needs nobody still passes.
        for (let id = 1_000 + sent - GROUP; id < 1_000 + sent; id++) {
          const params = { requestId: id };
          await client.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
        }
        if (require === undefined) expect(await client.ask(500_000 + sent, "ping")).toHaveProperty("result");
        else await look(client, 500_000 + sent);
      }
      expect(await runs()).toEqual({ gated: 0, look: require === undefined ? 0 : MESSAGES / GROUP });
    },
    300_000,
  );

  test("the stand-in runs the call once it is approved", async () => {
    const { engine, client, runs } = await scene(kind, ["delete_file"]);
    const calling = client.ask(2, "tools/call", { name: "delete_file", arguments: { path: "a" } });
    const open = async () => (await engine.ledger.confirmations({ state: "open" })).items;
    await expect.poll(open).toHaveLength(1);
    expect(await runs()).toEqual({ gated: 0, look: 0 });
    const [asked] = await open();
    await engine.approve(asked?.confirmation.id ?? "", { by });
    expect((await calling).result?.content).toEqual([{ type: "text", text: "did it" }]);
    expect(await runs()).toEqual({ gated: 1, look: 0 });
  });
});

test("a gateway that passed on what it was sent would be found out, whatever the mutation", async () => {
  const { path, runs } = await newLog();
  const child = spawn(process.execPath, [LAX, path, "stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  resources.add(() => child.kill("SIGKILL"));
  const client = overLines(child.stdin, child.stdout);
  const random = new Random(7);
  const harmless: string[] = [];
  let before = 0;
  for (const [index, kind] of Object.keys(MUTATIONS).entries()) {
    for (let time = 0; time < 10; time++) await client.send(mutate(index * 10 + time, [kind], random).bytes);
    await client.ask(900_000 + index, "ping");
    const { gated } = await runs();
    if (gated === before) harmless.push(kind);
    before = gated;
  }
  expect(harmless).toEqual([]);
  for (const { bytes } of mutants(1_000, random)) await client.send(bytes);
  await client.ask(999_999, "ping");
  await vi.waitFor(async () => expect((await runs()).gated - before).toBeGreaterThan(700));
});
