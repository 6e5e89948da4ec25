import type { AgentCard, AgentSkill, SecurityRequirement, SecurityScheme } from "@a2a-js/sdk";
import { KAGENT_HITL_EXTENSION } from "../../protocol/index.ts";
import { Agent, type AnyAgent, type Runner, type Tool, type Toolset } from "../../runtime/index.ts";

/** How callers authenticate: not at all, with a bearer token, or with an issuer's token. */
export type A2aSecurity = "none" | "bearer" | { readonly openIdConnectUrl: string };

export interface CardInput {
  readonly runner: Runner;
  /** Where the agent is reached. */
  readonly url: string;
  readonly security: A2aSecurity;
  readonly version: string;
  /** Include the agent's tools: only for authenticated callers, if there is a login. */
  readonly whole: boolean;
}

/** The agent card. */
export async function agentCard({ runner, url, security, version, whole }: CardInput): Promise<AgentCard> {
  const { agent, app } = runner;
  return {
    name: agent.name,
    description: agent.description === "" ? `The agent ${agent.name}.` : agent.description,
    supportedInterfaces: ["1.0", "0.3"].map((protocolVersion) => ({
      url,
      protocolBinding: "JSONRPC",
      tenant: "",
      protocolVersion,
    })),
    provider: undefined,
    version,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: security !== "none",
      extensions: [
        {
          uri: KAGENT_HITL_EXTENSION,
          description: "Tool approvals and questions to the user, answered with structured messages.",
          required: false,
          params: undefined,
        },
      ],
    },
    ...securityOf(security),
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [skillOf(app, agent.name, agent.description), ...(whole ? await skillsOf(agent) : [])],
    signatures: [],
  };
}

function securityOf(security: A2aSecurity): Pick<AgentCard, "securitySchemes" | "securityRequirements"> {
  if (security === "none") return { securitySchemes: {}, securityRequirements: [] };
  const bearer: SecurityScheme = {
    scheme: {
      $case: "httpAuthSecurityScheme",
      value: {
        description: "A token from this server, or from its OIDC issuer.",
        scheme: "Bearer",
        bearerFormat: "",
      },
    },
  };
  if (security === "bearer") {
    return { securitySchemes: { bearer }, securityRequirements: [requirement("bearer")] };
  }
  const { openIdConnectUrl } = security;
  const issuer: SecurityScheme = {
    scheme: { $case: "openIdConnectSecurityScheme", value: { description: "", openIdConnectUrl } },
  };
  return {
    securitySchemes: { bearer, issuer },
    securityRequirements: [requirement("bearer"), requirement("issuer")],
  };
}

function requirement(scheme: string): SecurityRequirement {
  return { schemes: { [scheme]: { list: [] } } };
}

async function skillsOf(agent: AnyAgent): Promise<readonly AgentSkill[]> {
  const tools = agent instanceof Agent ? await toolsOf(agent.tools) : [];
  const others = agent.subAgents.map(({ name, description }) => skillOf(name, name, description));
  return [...tools.map(({ name, description }) => skillOf(name, name, description)), ...others];
}

async function toolsOf(entries: readonly (Tool | Toolset)[]): Promise<readonly Tool[]> {
  const found: Tool[] = [];
  for (const entry of entries) {
    if (!("tools" in entry)) found.push(entry);
    // If an MCP server is unreachable, its tools are left out of the card.
    else found.push(...(await entry.tools().catch(() => [])));
  }
  return found;
}

function skillOf(id: string, name: string, description: string): AgentSkill {
  return {
    id,
    name,
    description: description === "" ? name : description,
    tags: [],
    examples: [],
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}
