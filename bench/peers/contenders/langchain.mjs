// langchain createAgent + humanInTheLoopMiddleware: the higher-level agent on top
// of the same langgraph checkpointer.
import { tool } from "@langchain/core/tools";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { z } from "zod";
import { Script } from "../lib/script.mjs";
import { meta as base, FakeChat, openSaver, toInstance } from "./langgraph.mjs";

export const meta = { ...base, name: "langchain", packages: ["langchain", ...base.packages] };

export async function open(env) {
  const script = new Script();
  const { saver, close, pragmas } = await openSaver(env);
  const tools = [
    tool(async (a) => JSON.stringify(await env.reimburse(a)), {
      name: "reimburse",
      description: "Reimburse an amount",
      schema: z.object({ amount: z.number() }),
    }),
    tool(async (a) => JSON.stringify(await env.ping(a)), {
      name: "ping",
      description: "Ping",
      schema: z.object({ i: z.number() }),
    }),
  ];
  const graph = createAgent({
    model: new FakeChat(script),
    tools,
    systemPrompt: "Be brief.",
    checkpointer: saver,
    middleware: [
      humanInTheLoopMiddleware({ interruptOn: { reimburse: { allowedDecisions: ["approve", "reject"] } } }),
    ],
  });
  return toInstance({
    graph: graph.graph ?? graph,
    script,
    saver,
    pragmas,
    close,
    resume: { decisions: [{ type: "approve" }] },
    asNode: "model_request",
  });
}
