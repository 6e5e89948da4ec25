import { Agent, Runner, RunState, tool } from "@openai/agents";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type ModelCall,
  PAY_SCHEMA,
  type Progress,
  type World,
} from "../contract/subject.ts";
import { noteTool, scripted, type Told } from "../subjects/openai-agents.ts";
import type { AloneSubject } from "./alone.ts";

/** The OpenAI Agents SDK with its own `needsApproval`. */
export const openaiAgentsAlone: AloneSubject = {
  name: "openai-agents alone",
  of: "openai-agents",
  open: (world) => hostOf(world),
};

function hostOf(world: World): AdapterHost {
  const runner = new Runner({ tracingDisabled: true });
  const agentOf = (calls: readonly ModelCall[], told: Told): Agent => {
    const pay = tool({
      name: "pay",
      description: world.description,
      parameters: { ...PAY_SCHEMA, additionalProperties: true } as never,
      strict: false,
      needsApproval: true,
      execute: (input: unknown) => world.pay(input as JsonObject),
    });
    return new Agent({ name: "cashier", model: scripted(calls, told), tools: [pay, noteTool()] });
  };
  const approve = async (state: string): Promise<Progress> => {
    const told: Told = {};
    const agent = agentOf([], told);
    const run = await RunState.fromString(agent, state);
    for (const item of run.getInterruptions()) run.approve(item);
    const result = await runner.run(agent, run);
    return { state: result.state.toString(), status: "done", told };
  };
  return {
    send: async (calls) => {
      const told: Told = {};
      const { state, interruptions } = await runner.run(agentOf(calls, told), "Pay.");
      return { state: state.toString(), status: interruptions.length > 0 ? "paused" : "done", told };
    },
    resume: approve,
    forge: approve,
    cancel: async () => 0,
  };
}
