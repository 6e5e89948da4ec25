import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import type { JsonObject } from "../../../src/protocol/index.ts";
import type { AloneSubject } from "../../adapters/alone/alone.ts";
import type { AdapterHost, ModelCall, Progress, World } from "../../adapters/contract/subject.ts";
import { scripted } from "./scripted.ts";
import { noteTool, PAY, restored, saved, statusOf } from "./subject.ts";

/** Mastra with its own `requireApproval`. */
export const alone: AloneSubject = {
  name: "mastra alone",
  of: "mastra",
  open: (world) => hostOf(world),
};

function hostOf(world: World): AdapterHost {
  const agentWith = (
    storage: InMemoryStore,
    calls: readonly ModelCall[],
    told: Record<string, string>,
  ): Agent => {
    const pay = createTool({
      id: "pay",
      description: world.description,
      inputSchema: PAY,
      requireApproval: true,
      execute: (input) => world.pay(input as JsonObject),
    });
    const agent = new Agent({
      id: "cashier",
      name: "cashier",
      instructions: "Pay.",
      model: scripted(calls, told),
      tools: { pay, note: noteTool() },
    });
    new Mastra({ agents: { agent }, storage, logger: false });
    return agent;
  };
  const approve = async (state: string): Promise<Progress> => {
    const storage = await restored(state);
    const told: Record<string, string> = {};
    const agent = agentWith(storage, [], told);
    const [run] = (await agent.listSuspendedRuns()).runs;
    if (run === undefined) throw new Error("It does not wait.");
    const { finishReason } = await agent.approveToolCallGenerate({ runId: run.runId, toolCallId: "c1" });
    return { state: await saved(storage), status: statusOf(finishReason), told };
  };
  return {
    send: async (calls) => {
      const storage = new InMemoryStore();
      const told: Record<string, string> = {};
      const memory = { thread: world.thread, resource: "user" };
      const { finishReason } = await agentWith(storage, calls, told).generate("Pay.", { memory });
      return { state: await saved(storage), status: statusOf(finishReason), told };
    },
    resume: approve,
    forge: approve,
    cancel: async () => 0,
  };
}
