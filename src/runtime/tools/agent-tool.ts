import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { AnyAgent } from "../agents/index.ts";
import { FunctionTool } from "./function-tool.ts";
import type { Tool, ToolOptions } from "./tool.ts";

/** Options of {@link agentTool}. */
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

/** A tool that runs another agent. A pause inside it pauses the whole run. */
export class AgentTool extends FunctionTool {
  readonly delegate: AnyAgent;

  constructor({ agent, ...options }: AgentToolOptions & { readonly agent: AnyAgent }) {
    super({
      name: agent.name,
      description: agent.description,
      parameters: REQUEST_SCHEMA,
      // Delegating is only a ledger entry, so repeating it after a crash is safe.
      idempotent: true,
      ...options,
      execute: () => undefined,
    });
    this.delegate = agent;
  }
}

/** Makes an agent callable as a tool, and gated like one. It sees only its input. */
export function agentTool(agent: AnyAgent, options: AgentToolOptions = {}): AgentTool {
  return new AgentTool({ ...options, agent });
}

export function isAgentTool(candidate: object): candidate is Tool & Pick<AgentTool, "delegate"> {
  return "delegate" in candidate;
}
