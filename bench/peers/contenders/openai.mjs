// @openai/agents: tool({needsApproval: true}), result.interruptions,
// state.approve(), run(agent, state). It ships no durable store for a paused run:
// docs say serialize RunState yourself (state.toString() / RunState.fromString()).
import { Agent, Runner, RunState, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { openKv } from "../lib/kv.mjs";
import { historyTurns, Script, USER_TEXT } from "../lib/script.mjs";

setTracingDisabled(true);

export const meta = {
  name: "openai",
  packages: ["@openai/agents", "pg"],
  stores: ["memory", "sqlite", "postgres"],
};

class FakeModel {
  constructor(script) {
    this.script = script;
  }
  async getResponse({ input }) {
    const last = typeof input === "string" ? undefined : input.at(-1);
    const d = this.script.next(last?.type === "function_call_result");
    return {
      usage: new Usage(),
      output: d.text
        ? [
            {
              type: "message",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: d.text }],
            },
          ]
        : d.calls.map((c) => ({
            type: "function_call",
            callId: c.id,
            name: c.name,
            arguments: JSON.stringify(c.args),
            status: "completed",
          })),
    };
  }
  // eslint-disable-next-line require-yield
  async *getStreamedResponse() {
    throw new Error("not streamed here");
  }
}

export async function open(env) {
  const script = new Script();
  const kv = await openKv(env);
  const agent = new Agent({
    name: "agent",
    instructions: "Be brief.",
    model: new FakeModel(script),
    tools: [
      tool({
        name: "reimburse",
        description: "Reimburse an amount",
        parameters: z.object({ amount: z.number() }),
        needsApproval: true,
        errorFunction: null,
        execute: (a) => env.reimburse(a),
      }),
      tool({
        name: "ping",
        description: "Ping",
        parameters: z.object({ i: z.number() }),
        errorFunction: null,
        execute: (a) => env.ping(a),
      }),
    ],
  });
  const runner = new Runner({ tracingDisabled: true });
  const history = new Map();

  return {
    pragmas: kv.pragmas,
    async start(sessionId) {
      const h = history.get(sessionId);
      const input = h ? [...h, { role: "user", content: USER_TEXT }] : USER_TEXT;
      const r = await runner.run(agent, input);
      const [item] = r.interruptions;
      if (!item) throw new Error("openai: did not pause");
      await kv.set(sessionId, kv.serialize ? r.state.toString() : r.state);
      return { sessionId, callId: item.rawItem.callId };
    },
    async approve({ sessionId, callId }) {
      const row = await kv.get(sessionId);
      const state = kv.serialize ? await RunState.fromString(agent, row) : row;
      const item = state.getInterruptions().find((i) => i.rawItem.callId === callId);
      // glue written by the user of the library, not by the library
      if (!item) throw new Error("userland: no such pending approval in the stored state");
      state.approve(item);
      const r = await runner.run(agent, state);
      await kv.set(sessionId, kv.serialize ? r.state.toString() : r.state);
      return { text: r.finalOutput };
    },
    async prefill(sessionId, n) {
      history.set(
        sessionId,
        historyTurns(n).map((t) =>
          t.role === "user"
            ? { role: "user", content: t.text }
            : {
                type: "message",
                role: "assistant",
                status: "completed",
                content: [{ type: "output_text", text: t.text }],
              },
        ),
      );
    },
    async ungated(_sessionId, mode, n) {
      script.armUngated(mode, n);
      try {
        return { text: (await runner.run(agent, "ping", { maxTurns: n + 5 })).finalOutput };
      } finally {
        script.disarm();
      }
    },
    async inspect({ sessionId }) {
      const row = await kv.get(sessionId);
      const state = kv.serialize ? await RunState.fromString(agent, row) : row;
      return `stored state still has ${state.getInterruptions().length} pending interruption(s); nothing recorded about the approval`;
    },
    close: () => kv.close(),
  };
}
