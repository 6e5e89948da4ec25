import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { AnyAgent } from "../agents/index.ts";
import { FunctionTool } from "./function-tool.ts";
import type { Tool, ToolOptions } from "./tool.ts";

export type AgentToolOptions = Partial<
  Pick<
    ToolOptions<JsonObject, JsonValue>,
    "name" | "description" | "requireConfirmation" | "confirmationHint" | "approvers" | "expiresInMs"
  >
>;

const REQUEST_SCHEMA: JsonObject = {
  type: "object",
  properties: { request: { type: "string", description: "What the agent is asked to do." } },
  required: ["request"],
};

/** A tool whose work is another agent's: a pause inside it is a pause of the whole run. */
export class AgentTool extends FunctionTool {
  readonly delegate: AnyAgent;

  constructor({ agent, ...options }: AgentToolOptions & { readonly agent: AnyAgent }) {
    super({
      name: agent.name,
      description: agent.description,
      parameters: REQUEST_SCHEMA,
      // Handing the work over is a ledger entry and nothing else, so doing it again after a crash is safe.
      idempotent: true,
      ...options,
      execute: () => undefined,
    });
    this.delegate = agent;
  }
}

/** Lets an agent be called like a tool, and gated like one. It sees only what it is asked. */
export function agentTool(agent: AnyAgent, options: AgentToolOptions = {}): AgentTool {
  return new AgentTool({ ...options, agent });
}

export function isAgentTool(candidate: object): candidate is Tool & Pick<AgentTool, "delegate"> {
  return "delegate" in candidate;
}
