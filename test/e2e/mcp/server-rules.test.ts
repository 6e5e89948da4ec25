import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { Agent, createEngine, type PolicySource } from "../../../src/index.ts";
import { McpGateway, type McpServer, McpToolset } from "../../../src/mcp/index.ts";
import { parsePolicy } from "../../../src/policy/index.ts";
import { call, play, resultsIn, useRunners } from "../../seeds/scripted-runner.ts";
import { useResources } from "../../support/resources.ts";

// A rule names a server as its toolset or gateway does, whatever people are shown beside that name.

const resources = useResources();
const makeRunner = useRunners();
const PEER = fileURLToPath(new URL("../../support/mcp/peer.mjs", import.meta.url));
const RULES: readonly (readonly [string, string])[] = [
  ["a name", "match: { mcpServer: peer }"],
  ["a condition", `when: 'tool.server == "peer"'`],
];

function denying(rule: string): PolicySource {
  return parsePolicy("policy.yaml", `rules:\n  - { id: no-peer, ${rule}, then: deny }\n`);
}

async function peer(): Promise<{ readonly server: McpServer; readonly calls: () => Promise<number> }> {
  const folder = await resources.folder();
  const [log, script] = [join(folder, "log"), join(folder, "script.json")];
  await writeFile(log, "");
  const tools = [{ name: "write", description: "Writes.", inputSchema: { type: "object" } }];
  await writeFile(script, JSON.stringify({ log, tools }));
  const called = async () =>
    (await readFile(log, "utf8")).split("\n").filter((line) => line.startsWith("call"));
  return {
    server: { command: process.execPath, args: [PEER, script] },
    calls: async () => (await called()).length,
  };
}

test.each(RULES)(
  "a rule about a server that names it by %s denies its tools in the gateway",
  async (_, rule) => {
    const { server, calls } = await peer();
    const engine = await createEngine({ ledger: "memory:", policy: denying(rule) });
    const gateway = new McpGateway({
      engine,
      name: "peer",
      server,
      require: [],
      by: { id: "local:ana", kind: "local" },
    });
    const [near, far] = InMemoryTransport.createLinkedPair();
    const served = gateway.serve(far);
    const client = new Client({ name: "desktop", version: "1" });
    await client.connect(near);
    resources.add(async () => {
      await client.close();
      await served;
      await gateway.close();
      await engine.close();
    });
    expect(await client.callTool({ name: "write", arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("no-peer") as string }],
    });
    expect(await calls()).toBe(0);
  },
);

test.each(RULES.flatMap((rule) => ["", "their_"].map((prefix) => [...rule, prefix] as const)))(
  "a rule about a server that names it by %s (%s) denies the tools of its toolset with the prefix %j",
  async (_, rule, prefix) => {
    const { server, calls } = await peer();
    const set = new McpToolset({ name: "peer", server, prefix, confirmation: "none" });
    resources.add(() => set.close());
    const model = play([call(`${prefix}write`)], "All right.");
    const runner = makeRunner({
      agent: new Agent({ name: "a", model, tools: [set] }),
      policy: denying(rule),
    });
    await runner.send("write", { user: "ana" });
    expect(resultsIn(model.requests[1] as never)).toMatchObject([
      { error: "tool call was denied by policy", reason: expect.stringContaining("no-peer") as string },
    ]);
    expect(await calls()).toBe(0);
  },
);
