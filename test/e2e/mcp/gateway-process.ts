import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { localPrincipal } from "../../../src/cli/wiring.ts";
import { tryApprove } from "../../../src/engine/testing/try-decide.ts";
import { scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { ENTRY, type Folder, type Started } from "../../support/processes/command-line.ts";
import { COMPILE_CACHE } from "../../support/processes/compile-cache.ts";

/** The program of a server from npm. */
export function program(name: string): string {
  return fileURLToPath(import.meta.resolve(`${name}/dist/index.js`));
}

/** A scripted server as the command that starts it. */
export interface PeerCommand {
  readonly command: readonly string[];
  readonly calls: () => Promise<readonly string[]>;
  /** How many of its requests were taken back. */
  readonly cancelled: () => Promise<number>;
}

export async function peerCommand(folder: Folder, tools: readonly object[]): Promise<PeerCommand> {
  const { server, log, calls } = await scriptedPeer(folder.path, tools);
  return {
    command: [server.command, ...server.args],
    calls,
    cancelled: async () => (await log()).filter((line) => line === "cancelled").length,
  };
}

export const toolNamed = (name: string): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
});

/** What the command is started with. */
export function gatewayEnv({ ledger }: Folder): Record<string, string> {
  const env = process.env as Record<string, string>;
  return { ...env, COUNTERSIGN_DB: ledger, NODE_COMPILE_CACHE: COMPILE_CACHE };
}

/** A real client from npm, and the real command that it has started in its server's place. */
export interface GatewayClient {
  readonly client: Client;
  readonly pid: number;
  /** What the command has said on standard error. */
  readonly words: () => string;
  close(): Promise<void>;
}

export async function startGatewayClient(
  folder: Folder,
  args: readonly string[],
  options: { readonly client?: ClientOptions; readonly setUp?: (client: Client) => void } = {},
): Promise<GatewayClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, "mcp", ...args],
    cwd: folder.path,
    env: gatewayEnv(folder),
    stderr: "pipe",
  });
  let words = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    words += chunk.toString();
  });
  const client = new Client({ name: "desktop", version: "1" }, options.client);
  options.setUp?.(client);
  onTestFinished(() => client.close());
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${words}`);
  });
  return { client, pid: transport.pid ?? 0, words: () => words, close: () => client.close() };
}

/** The command serving over HTTP. */
export async function startHttpGateway(
  folder: Folder,
  args: readonly string[],
): Promise<{ readonly url: URL; readonly started: Started }> {
  const started = folder.start(["mcp", "--http", "0", ...args], { COUNTERSIGN_DB: folder.ledger });
  const words = await started.until(/http:\S+\/mcp/);
  const [url = ""] = /http:\S+\/mcp/.exec(words) ?? [];
  return { url: new URL(url), started };
}

export async function connectHttp(url: URL, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: "remote", version: "1" }, options);
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(url));
  return client;
}

export interface Waiting {
  readonly id: string;
  readonly tool: string;
  readonly app: string;
}

/** What waits for a person, once there are so many, as the command line lists it. */
export async function waiting(folder: Folder, count = 1): Promise<readonly Waiting[]> {
  const read = async (): Promise<readonly Waiting[]> =>
    folder.withEngine(async ({ ledger }) =>
      (await ledger.confirmations({ state: "open" })).items.map(({ confirmation }) => confirmation),
    );
  await expect.poll(read, { timeout: 40_000, interval: 100 }).toHaveLength(count);
  return read();
}

/** Decides as the command line does, in this process. */
export async function approve(folder: Folder, id: string): Promise<void> {
  const by = localPrincipal();
  const decided = await folder.withEngine((engine) => tryApprove(engine, id, { by, via: "cli" }));
  expect(decided).toMatchObject({ ok: true });
}

export const text = (value: string): object[] => [{ type: "text", text: value }];

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The server from npm that has everything, over the network. */
export async function everything(
  kind: "sse" | "streamableHttp",
  port: number,
): Promise<{ stop(): Promise<void> }> {
  const file = program("@modelcontextprotocol/server-everything");
  const child = spawn(process.execPath, [file, kind], { env: { ...process.env, PORT: String(port) } });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(stop);
  const reachable = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  await expect.poll(reachable, { timeout: 30_000 }).toBe(true);
  return { stop };
}
