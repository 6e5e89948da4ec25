import { Command } from "@langchain/langgraph";
import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type ModelCall,
  PAY_SCHEMA,
  type Progress,
  type World,
} from "../contract/subject.ts";
import { savedIn, textOf } from "../subjects/langchain.ts";
import { ScriptedChatModel, type Told } from "../subjects/langchain-model.ts";
import type { AloneSubject } from "./alone.ts";

/** LangChain with its own `humanInTheLoopMiddleware`. */
export const langchainAlone: AloneSubject = {
  name: "langchain alone",
  of: "langchain",
  open: (world) => hostOf(world),
};

const CONFIG = { configurable: { thread_id: "checkpoints" } };

function hostOf(world: World): AdapterHost {
  const invoke = async (
    state: string | undefined,
    calls: readonly ModelCall[],
    input: unknown,
  ): Promise<Progress> => {
    const told: Told = {};
    const checkpointer = savedIn(state);
    const pay = tool((args: unknown) => world.pay(args as JsonObject), {
      name: "pay",
      description: world.description,
      schema: PAY_SCHEMA as never,
    });
    const note = tool((args: unknown) => args as JsonObject, {
      name: "note",
      description: "Notes a text.",
      schema: { type: "object", properties: {} } as never,
    });
    const approval: unknown = humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never);
    const agent = createAgent({
      model: new ScriptedChatModel(calls, told),
      tools: [pay, note],
      checkpointer,
      // Its types do not allow for exact optional properties.
      middleware: [approval as AgentMiddleware],
    });
    const result: object = await agent.invoke(input as never, CONFIG);
    return { state: textOf(checkpointer), status: "__interrupt__" in result ? "paused" : "done", told };
  };
  const approve = (state: string): Promise<Progress> =>
    invoke(state, [], new Command({ resume: { decisions: [{ type: "approve" }] } }));
  return {
    send: (calls) => invoke(undefined, calls, { messages: [{ role: "user", content: "Pay." }] }),
    resume: approve,
    forge: approve,
    cancel: async () => 0,
  };
}
