// @mastra/core: createTool({requireApproval: true}), agent.generate() returns
// finishReason 'suspended', agent.approveToolCallGenerate({runId, toolCallId}).
// No Memory configured: the run snapshot alone is what HITL needs (fastest use).
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { historyTurns, Script, USER_TEXT } from "../lib/script.mjs";

export const meta = {
  name: "mastra",
  packages: ["@mastra/core", "@mastra/libsql", "@mastra/pg", "@libsql/client", "pg"],
  stores: ["memory", "sqlite", "postgres"],
};

const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

async function openStorage({ store, file, url }) {
  if (store === "memory") return new InMemoryStore();
  if (store === "sqlite") {
    const { LibSQLStore } = await import("@mastra/libsql");
    return new LibSQLStore({ id: "bench", url: `file:${file}` });
  }
  const { PostgresStore } = await import("@mastra/pg");
  return new PostgresStore({ id: "bench", connectionString: url });
}

export async function open(env) {
  const script = new Script();
  const storage = await openStorage(env);
  await storage.init?.();
  const model = {
    specificationVersion: "v2",
    provider: "fake",
    modelId: "fake",
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const d = script.next(prompt.at(-1)?.role === "tool");
      return {
        content: d.text
          ? [{ type: "text", text: d.text }]
          : d.calls.map((c) => ({
              type: "tool-call",
              toolCallId: c.id,
              toolName: c.name,
              input: JSON.stringify(c.args),
            })),
        finishReason: d.text ? "stop" : "tool-calls",
        usage,
        warnings: [],
        request: {},
        response: {},
      };
    },
    async doStream() {
      throw new Error("not streamed here");
    },
  };
  const agent = new Agent({
    id: "agent",
    name: "agent",
    instructions: "Be brief.",
    model,
    tools: {
      reimburse: createTool({
        id: "reimburse",
        description: "Reimburse an amount",
        inputSchema: z.object({ amount: z.number() }),
        requireApproval: true,
        execute: (a) => env.reimburse(a),
      }),
      ping: createTool({
        id: "ping",
        description: "Ping",
        inputSchema: z.object({ i: z.number() }),
        execute: (a) => env.ping(a),
      }),
    },
  });
  const mastra = new Mastra({ agents: { agent }, storage, logger: false });
  const a = mastra.getAgent("agent");
  const history = new Map();

  return {
    async start(sessionId) {
      const h = history.get(sessionId);
      const out = await a.generate(h ? [...h, { role: "user", content: USER_TEXT }] : USER_TEXT);
      if (out.finishReason !== "suspended")
        throw new Error(`mastra: did not pause (${out.finishReason} ${out.error ?? ""})`);
      return { runId: out.runId, toolCallId: out.suspendPayload?.toolCallId };
    },
    async approve({ runId, toolCallId }) {
      const out = await a.approveToolCallGenerate({ runId, toolCallId });
      if (out.error) throw out.error;
      return { text: out.text };
    },
    async prefill(sessionId, n) {
      history.set(
        sessionId,
        historyTurns(n).map((t) => ({ role: t.role, content: t.text })),
      );
    },
    async ungated(_sessionId, mode, n) {
      script.armUngated(mode, n);
      try {
        return { text: (await a.generate("ping", { maxSteps: n + 5 })).text };
      } finally {
        script.disarm();
      }
    },
    async inspect({ runId }) {
      const { runs } = await a.listSuspendedRuns({});
      const w = await (await storage.getStore("workflows")).listWorkflowRuns({});
      const row = w.runs.find((r) => r.runId === runId);
      const snap = typeof row?.snapshot === "string" ? JSON.parse(row.snapshot) : row?.snapshot;
      return `listed by listSuspendedRuns: ${runs.some((r) => r.runId === runId)}; snapshot status: ${snap?.status ?? "(no snapshot)"}`;
    },
    async close() {
      await mastra.shutdown?.();
      await storage.close?.();
    },
  };
}
