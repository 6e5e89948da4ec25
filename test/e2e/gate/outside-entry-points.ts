import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateText, isStepCount, jsonSchema, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { gateTools } from "../../../src/adapters/ai-sdk/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { createEngine, type JsonObject, Runner } from "../../../src/index.ts";
import { loadManifest } from "../../../src/manifest/index.ts";
import { scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { toolNamed } from "../mcp/gateway-process.ts";
import { ARGS, BY, calling, type Open } from "./entry-points.ts";

const SCHEMA = { type: "object", properties: { path: { type: "string" } } } as const;
const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const MANIFEST = `apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: { name: office }
spec:
  declarative:
    systemMessage: Help.
    tools:
    - type: McpServer
      mcpServer: { name: peer, toolNames: [erase, other], requireApproval: [other] }
`;

const openManifest: Open = async (resources, { policy }) => {
  const folder = await resources.folder();
  const { server, calls } = await scriptedPeer(folder, ["erase", "other"].map(toolNamed));
  const file = join(folder, "office.yaml");
  await writeFile(file, MANIFEST);
  await writeFile(join(folder, "mcp-servers.json"), JSON.stringify({ mcpServers: { peer: server } }));
  const [made] = loadManifest(file, { model: calling });
  if (made === undefined) throw new Error("The manifest has no agent.");
  const engine = await createEngine({ ledger: "memory:", policy });
  const runner = new Runner({ agent: made.agent, engine });
  resources.add(async () => {
    await runner.close();
    await made.close();
    await engine.close();
  });
  const call = async (): Promise<string> => (await runner.send("Erase it.", { user: BY.id })).text;
  const ran = async (): Promise<number> =>
    (await calls()).filter((line) => line.startsWith("call erase")).length;
  return { engine, tool: "erase", call, ran };
};

/** A program that asks over HTTP. Each call of it asks, and runs what it may. */
const openApi: Open = async (resources, { policy }) => {
  const engine = await createEngine({ ledger: "memory:", policy });
  const scopes = ["propose", "read"] as const;
  const app = createApp({
    apps: {},
    engine,
    publicUrl: "https://one.test",
    authenticate: () => ({ ...BY, scopes }),
  });
  resources.add(async () => {
    app.drain();
    await engine.close();
  });
  let entered = 0;
  const post = async (path: string, body: object): Promise<JsonObject> => {
    const headers = { host: "one.test", "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await app.fetch(new Request(`https://one.test/v1/calls${path}`, request));
    return (await response.json()) as JsonObject;
  };
  const call = async (): Promise<string> => {
    const asking = { requireConfirmation: false, amendable: true, schema: SCHEMA };
    const asked = await post("", { app: "office", tool: "erase", args: ARGS, key: "k", ...asking });
    if (asked["status"] !== "allowed") return JSON.stringify(asked);
    const claimed = await post("/k/claim", { leaseSeconds: 60 });
    if (claimed["claim"] !== undefined) entered += 1;
    return JSON.stringify(claimed);
  };
  return { engine, tool: "erase", call, ran: async () => entered, again: call };
};

const openAiSdk: Open = async (resources, { policy }) => {
  const engine = await createEngine({ ledger: "memory:", policy });
  resources.add(() => engine.close());
  let entered = 0;
  const erase = tool({
    description: "Erases.",
    inputSchema: jsonSchema<typeof ARGS>(SCHEMA),
    execute: () => {
      entered += 1;
      return "erased";
    },
  });
  const gate = () => {
    const rules = { erase: { requireConfirmation: false, amendable: true } } as const;
    return gateTools({ engine, app: "office", thread: "t", user: BY.id, tools: { erase }, rules });
  };
  let messages: ModelMessage[] = [{ role: "user", content: "Erase it." }];
  const go = async (): Promise<string> => {
    const { tools, toolApproval } = gate();
    const model = modelOf();
    const result = await generateText({ model, messages, tools, toolApproval, stopWhen: isStepCount(3) });
    messages = [...messages, ...result.responseMessages];
    return JSON.stringify(result.responseMessages);
  };
  const again = async (): Promise<string> => {
    const resumption = await gate().resume(messages);
    if (!resumption.ready) return "waits";
    messages = resumption.messages;
    return go();
  };
  return { engine, tool: "erase", call: go, ran: async () => entered, again };
};

/** Calls once, and then has nothing more to say. */
function modelOf(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const called = prompt.some(({ role }) => role === "tool");
      const call = {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "erase",
        input: JSON.stringify(ARGS),
      } as const;
      const unified = called ? "stop" : "tool-calls";
      return {
        content: called ? [{ type: "text", text: "Done." } as const] : [call],
        finishReason: { unified, raw: undefined } as const,
        usage: USAGE,
        warnings: [],
      };
    },
  });
}

export const OUTSIDE: readonly (readonly [string, Open])[] = [
  ["a manifest's tool", openManifest],
  ["a program that asks over HTTP", openApi],
  ["a tool of the AI SDK", openAiSdk],
];
