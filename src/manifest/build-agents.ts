import { type McpServer, McpToolset } from "../mcp/index.ts";
import { CountersignError } from "../protocol/index.ts";
import { Agent, type AnyAgent, agentTool, type Model } from "../runtime/index.ts";
import type { Asking } from "./asking.ts";
import { demoModel } from "./demo-model.ts";
import type { AgentDescription, AgentUse, ServerUse } from "./kagent.ts";
import type { ManifestAgent, ManifestOptions, ReadManifest } from "./load.ts";
import { connectionOf } from "./remote-agents.ts";

/** Creates agents from their descriptions; agents used as tools come first. */
export function buildAgents(manifest: ReadManifest, options: ManifestOptions): readonly ManifestAgent[] {
  return manifest.agents.map((described) => {
    const toolsets: McpToolset[] = [];
    const agent = build({ manifest, options, toolsets, within: [] }, described);
    return {
      name: described.name,
      agent,
      close: async () => {
        await Promise.all(toolsets.map((toolset) => toolset.close()));
      },
    };
  });
}

interface Building {
  readonly manifest: ReadManifest;
  readonly options: ManifestOptions;
  readonly toolsets: McpToolset[];
  /** The agents around this one, outermost first. */
  readonly within: readonly string[];
}

function build(building: Building, described: AgentDescription): Agent {
  const { name, description, instruction, mcpServers, subAgents, asking } = described;
  if (building.within.includes(name)) {
    const circle = [...building.within, name].join(" → ");
    throw new CountersignError("invalid-option", `The agents use each other in a circle: ${circle}.`);
  }
  const sets = mcpServers.map((use) => toolsetOf(building, use, asking));
  building.toolsets.push(...sets);
  const inner = { ...building, within: [...building.within, name] };
  return new Agent({
    name: agentName(name),
    ...(description === undefined ? {} : { description }),
    instruction,
    model: modelOf(building, described),
    tools: [...sets, ...subAgents.map((sub) => agentTool(subAgent(inner, sub, asking)))],
  });
}

function subAgent(building: Building, use: AgentUse, { approvers }: Asking): AnyAgent {
  const { manifest, options } = building;
  const connection = connectionOf(manifest, use);
  if (connection === undefined) return build(building, find(building, use.name));
  const { card, headers, description } = connection;
  if (options.remoteAgent === undefined) {
    throw new CountersignError(
      "invalid-option",
      `The agent "${use.name}" is remote. Set \`remoteAgent: (about) => new RemoteAgent(about)\`, from "countersign/a2a".`,
      { details: { option: "remoteAgent" } },
    );
  }
  return options.remoteAgent({
    name: agentName(use.name),
    card,
    ...(description === undefined ? {} : { description }),
    ...(headers === undefined ? {} : { headers: () => headers }),
    ...(approvers === undefined ? {} : { approvers }),
  });
}

// Models get agents' names as tool names, which cannot contain dashes.
function agentName(name: string): string {
  return name.replaceAll(/[^\w]/g, "_");
}

function toolsetOf({ manifest }: Building, use: ServerUse, asking: Asking): McpToolset {
  const { name, toolNames, requireApproval, allowedHeaders, connection } = use;
  const server: McpServer | undefined = connection ?? manifest.servers.get(name);
  if (server === undefined) throw new CountersignError("invalid-option", `There is no MCP server "${name}".`);
  return new McpToolset({
    name,
    server,
    ...asking,
    ...(toolNames === undefined ? {} : { toolNames }),
    ...(requireApproval === undefined ? {} : { requireApproval }),
    ...(allowedHeaders === undefined ? {} : { allowedHeaders }),
  });
}

function find({ manifest }: Building, name: string): AgentDescription {
  const found = manifest.agents.find((agent) => agent.name === name);
  if (found === undefined) throw new CountersignError("invalid-option", `There is no agent "${name}".`);
  return found;
}

function modelOf({ manifest, options }: Building, { model, modelConfig }: AgentDescription): string | Model {
  const configured = modelConfig === undefined ? undefined : manifest.models.get(modelConfig);
  const named = model ?? configured ?? options.model ?? process.env["COUNTERSIGN_MODEL"];
  return named === undefined || named === "" ? demoModel() : named;
}
