// Vercel AI SDK: ToolLoopAgent + toolApproval: {reimburse: 'user-approval'};
// tool-approval-request -> tool-approval-response in messages -> generate again.
// It ships no store: the messages are the state and the user keeps them.
import { isStepCount, ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import { openKv } from "../lib/kv.mjs";
import { historyTurns, Script, USER_TEXT } from "../lib/script.mjs";

export const meta = { name: "aisdk", packages: ["ai", "pg"], stores: ["memory", "sqlite", "postgres"] };

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

export async function open(env) {
  const script = new Script();
  const kv = await openKv(env);
  const model = {
    specificationVersion: "v4",
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
        finishReason: { unified: d.text ? "stop" : "tool-calls", raw: undefined },
        usage,
        warnings: [],
      };
    },
    async doStream() {
      throw new Error("not streamed here");
    },
  };
  const agent = new ToolLoopAgent({
    model,
    instructions: "Be brief.",
    tools: {
      reimburse: tool({
        description: "Reimburse an amount",
        inputSchema: z.object({ amount: z.number() }),
        execute: (a) => env.reimburse(a),
      }),
      ping: tool({
        description: "Ping",
        inputSchema: z.object({ i: z.number() }),
        execute: (a) => env.ping(a),
      }),
    },
    toolApproval: { reimburse: "user-approval" },
    stopWhen: isStepCount(1000),
  });
  const history = new Map();
  const load = async (id) => {
    const v = await kv.get(id);
    return v === undefined ? undefined : kv.serialize ? JSON.parse(v) : v;
  };
  const save = (id, messages) => kv.set(id, kv.serialize ? JSON.stringify(messages) : messages);

  return {
    pragmas: kv.pragmas,
    async start(sessionId) {
      const messages = [...(history.get(sessionId) ?? []), { role: "user", content: USER_TEXT }];
      const r = await agent.generate({ messages });
      const req = r.content.find((p) => p.type === "tool-approval-request");
      if (!req) throw new Error("aisdk: did not pause");
      await save(sessionId, [...messages, ...r.responseMessages]);
      return { sessionId, approvalId: req.approvalId };
    },
    async approve({ sessionId, approvalId }) {
      const messages = [
        ...(await load(sessionId)),
        { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] },
      ];
      const r = await agent.generate({ messages });
      await save(sessionId, [...messages, ...r.responseMessages]);
      return { text: r.text };
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
        return { text: (await agent.generate({ prompt: "ping" })).text };
      } finally {
        script.disarm();
      }
    },
    async inspect({ sessionId }) {
      const m = await load(sessionId);
      return `stored messages: ${m.map((x) => (typeof x.content === "string" ? x.role : x.content.map((p) => p.type).join("+"))).join(" > ")}`;
    },
    close: () => kv.close(),
  };
}
