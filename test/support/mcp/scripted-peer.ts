import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import type { McpGateway } from "../../../src/mcp/index.ts";
import type { Resources } from "../resources.ts";

const PEER = fileURLToPath(new URL("peer.mjs", import.meta.url));

/** A server of ours that can misbehave, and the log of what it was asked to do. */
export interface ScriptedPeer {
  readonly server: { readonly command: string; readonly args: readonly string[] };
  readonly log: () => Promise<readonly string[]>;
  /** The lines of the log that are calls. */
  readonly calls: () => Promise<readonly string[]>;
}

/** A server with these tools. Its script and its log are in the folder. */
export async function scriptedPeer(folder: string, tools: readonly object[]): Promise<ScriptedPeer> {
  const [path, script] = [join(folder, "log"), join(folder, "script.json")];
  await writeFile(path, "");
  await writeFile(script, JSON.stringify({ log: path, tools }));
  const log = async (): Promise<readonly string[]> => (await readFile(path, "utf8")).split("\n");
  return {
    server: { command: process.execPath, args: [PEER, script] },
    log,
    calls: async () => (await log()).filter((line) => line.startsWith("call")),
  };
}

/** A client from npm, connected through the gateway; closed after the test, before the gateway is. */
export async function connectClient(resources: Resources, gateway: McpGateway): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const served = gateway.serve(far);
  const client = new Client({ name: "desktop", version: "1" });
  await client.connect(near);
  resources.add(async () => {
    await client.close();
    await served;
  });
  return client;
}
