// @langchain/langgraph: StateGraph(agent <-> ToolNode), interrupt() inside the
// tool (the documented "interrupt in a tool" pattern), Command({resume}).

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { historyTurns, Script, USER_TEXT } from "../lib/script.mjs";

export const meta = {
  name: "langgraph",
  packages: [
    "@langchain/langgraph",
    "@langchain/core",
    "@langchain/langgraph-checkpoint-sqlite",
    "@langchain/langgraph-checkpoint-postgres",
    "better-sqlite3",
    "pg",
  ],
  stores: ["memory", "sqlite", "postgres"],
  // better-sqlite3 has to be built for the Node that it runs on.
  native: ["sqlite"],
};

export class FakeChat extends BaseChatModel {
  constructor(script) {
    super({});
    this.script = script;
  }
  _llmType() {
    return "fake";
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    const d = this.script.next(messages.at(-1)?.getType() === "tool");
    const message = d.text
      ? new AIMessage(d.text)
      : new AIMessage({
          content: "",
          tool_calls: d.calls.map((c) => ({ id: c.id, name: c.name, args: c.args, type: "tool_call" })),
        });
    return { generations: [{ text: d.text ?? "", message }] };
  }
}

export async function openSaver({ store, file, url }) {
  if (store === "memory") return { saver: new MemorySaver(), close: async () => {} };
  if (store === "sqlite") {
    const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
    const saver = SqliteSaver.fromConnString(file);
    return {
      saver,
      close: async () => saver.db.close(),
      pragmas: () =>
        `journal_mode=${saver.db.pragma("journal_mode", { simple: true })} synchronous=${saver.db.pragma("synchronous", { simple: true })}`,
    };
  }
  const { PostgresSaver } = await import("@langchain/langgraph-checkpoint-postgres");
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  return { saver, close: () => saver.end() };
}

export function toInstance({ graph, script, saver, pragmas, close, resume, asNode }) {
  const cfg = (id, extra) => ({ configurable: { thread_id: id }, ...extra });
  return {
    pragmas,
    async start(sessionId) {
      const out = await graph.invoke({ messages: [new HumanMessage(USER_TEXT)] }, cfg(sessionId));
      if (!out.__interrupt__?.length) throw new Error("langgraph: did not pause");
      return { sessionId };
    },
    async approve({ sessionId }) {
      const out = await graph.invoke(new Command({ resume }), cfg(sessionId));
      return { text: out.messages?.at(-1)?.content };
    },
    async prefill(sessionId, n) {
      const messages = historyTurns(n).map((t) =>
        t.role === "user" ? new HumanMessage(t.text) : new AIMessage(t.text),
      );
      await graph.updateState(cfg(sessionId), { messages }, asNode);
    },
    async ungated(sessionId, mode, n) {
      script.armUngated(mode, n);
      try {
        const out = await graph.invoke(
          { messages: [new HumanMessage("ping")] },
          cfg(sessionId, { recursionLimit: 4 * n + 10 }),
        );
        return { text: out.messages.at(-1).content };
      } finally {
        script.disarm();
      }
    },
    async inspect({ sessionId }) {
      const s = await graph.getState(cfg(sessionId));
      return `next: ${s.next.join(",") || "(none)"}; pending interrupts: ${s.tasks.flatMap((t) => t.interrupts ?? []).length}; task errors: ${s.tasks.filter((t) => t.error).length}`;
    },
    saver,
    close,
  };
}

export async function open(env) {
  const script = new Script();
  const { saver, close, pragmas } = await openSaver(env);
  const tools = [
    tool(
      async (a) => {
        const decision = interrupt({ action: "reimburse", args: a });
        if (!decision.approved) return "rejected";
        return JSON.stringify(await env.reimburse(a));
      },
      { name: "reimburse", description: "Reimburse an amount", schema: z.object({ amount: z.number() }) },
    ),
    tool(async (a) => JSON.stringify(await env.ping(a)), {
      name: "ping",
      description: "Ping",
      schema: z.object({ i: z.number() }),
    }),
  ];
  const model = new FakeChat(script);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", async (s) => ({ messages: [await model.invoke(s.messages)] }))
    .addNode("tools", new ToolNode(tools, { handleToolErrors: false }))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition)
    .addEdge("tools", "agent")
    .compile({ checkpointer: saver });
  return toInstance({ graph, script, saver, pragmas, close, resume: { approved: true }, asNode: "agent" });
}
