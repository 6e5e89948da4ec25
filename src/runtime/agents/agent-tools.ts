import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import type { ToolDeclaration } from "../models/index.ts";
import { refuseReserved, type Tool, type Toolset, tool } from "../tools/index.ts";
import type { Agent } from "./agent.ts";
import type { AgentTree } from "./agent-tree.ts";

/** The tool with which an agent hands over to another. Its name is the ADK's. */
export const TRANSFER_TOOL = "transfer_to_agent";

// An agent without toolsets always has the same tools, so they are collected once.
const fixedTools = new WeakMap<Agent, ReadonlyMap<string, Tool>>();

/** All tools of an agent by name, including those of its toolsets, and the transfer tool if it can hand over. */
export async function toolsOf(agent: Agent, agents: AgentTree): Promise<ReadonlyMap<string, Tool>> {
  const fixed = fixedTools.get(agent);
  if (fixed !== undefined) return fixed;
  const found = new Map<string, Tool>();
  const add = (candidate: Tool): void => {
    refuseReserved(candidate.name);
    if (found.has(candidate.name)) {
      throw new CountersignError(
        "invalid-option",
        `The agent ${agent.name} has two tools named "${candidate.name}".`,
      );
    }
    found.set(candidate.name, candidate);
  };
  for (const entry of agent.tools) {
    if (isToolset(entry)) for (const member of await entry.tools()) add(member);
    else add(entry);
  }
  const transfer = transferTool(agent, agents);
  if (transfer !== undefined) add(transfer);
  if (!agent.tools.some(isToolset)) fixedTools.set(agent, found);
  return found;
}

function isToolset(entry: Tool | Toolset): entry is Toolset {
  return "tools" in entry;
}

/** The tools' declarations for the model. */
export function declarationsOf(tools: ReadonlyMap<string, Tool>): readonly ToolDeclaration[] {
  const declarations: ToolDeclaration[] = [];
  for (const { name, description, parameters } of tools.values())
    declarations.push(parameters === undefined ? { name, description } : { name, description, parameters });
  return declarations;
}

function transferTool(agent: Agent, agents: AgentTree): Tool | undefined {
  const targets = agents.transferTargets(agent.name);
  if (targets.length === 0) return undefined;
  const names = targets.map(({ name }) => name);
  const list = targets.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  const parameters: JsonObject = {
    type: "object",
    properties: { agent_name: { type: "string", enum: names } },
    required: ["agent_name"],
  };
  return tool({
    name: TRANSFER_TOOL,
    description: `Transfers the conversation to another agent that is better suited to continue it:\n${list}`,
    parameters,
    // It only says which agent is next, so repeating it after a crash is safe.
    idempotent: true,
    execute: () => null,
  });
}
