import { expect, test } from "vitest";
import { Agent, createEngine, type PolicySource } from "../../../src/index.ts";
import { McpGateway, McpToolset } from "../../../src/mcp/index.ts";
import { parsePolicy } from "../../../src/policy/index.ts";
import { call, play, resultsIn, useRunners } from "../../seeds/scripted-runner.ts";
import { connectClient, type ScriptedPeer, scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { useResources } from "../../support/resources.ts";
import { toolNamed } from "./gateway-process.ts";

// A rule names a server as its toolset or gateway does, whatever people are shown beside that name.

const resources = useResources();
const makeRunner = useRunners();
const RULES: readonly (readonly [string, string])[] = [
  ["a name", "match: { mcpServer: peer }"],
  ["a condition", `when: 'tool.server == "peer"'`],
];

function denying(rule: string): PolicySource {
  return parsePolicy("policy.yaml", `rules:\n  - { id: no-peer, ${rule}, then: deny }\n`);
}

async function peer(): Promise<ScriptedPeer> {
  return scriptedPeer(await resources.folder(), [toolNamed("write")]);
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
    resources.add(async () => {
      await gateway.close();
      await engine.close();
    });
    const client = await connectClient(resources, gateway);
    expect(await client.callTool({ name: "write", arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("no-peer") as string }],
    });
    expect(await calls()).toEqual([]);
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
    expect(await calls()).toEqual([]);
  },
);
