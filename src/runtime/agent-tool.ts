import type { JsonObject, JsonValue } from "../protocol/index.ts";
import type { AnyAgent } from "./agent.ts";
import { type Tool, type ToolOptions, tool } from "./tool.ts";

/** A tool whose work is another agent's: a pause inside it is a pause of the whole run. */
export interface AgentTool extends Tool {
  readonly delegate: AnyAgent;
}

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

/** Lets an agent be called like a tool, and gated like one. It sees only what it is asked. */
export function agentTool(agent: AnyAgent, options: AgentToolOptions = {}): AgentTool {
  const plain = tool({
    name: agent.name,
    description: agent.description,
    parameters: REQUEST_SCHEMA,
    // Handing the work over is a ledger entry and nothing else, so doing it again after a crash is safe.
    idempotent: true,
    ...options,
    execute: () => undefined,
  });
  return { ...plain, delegate: agent };
}

export function isAgentTool(candidate: object): candidate is AgentTool {
  return "delegate" in candidate;
}
