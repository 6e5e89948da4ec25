import type { Node } from "yaml";
import type { McpServer } from "../mcp/index.ts";
import { readConnection } from "./mcp-servers.ts";
import type { ManifestSource, Members } from "./source.ts";

/** An agent as a manifest describes it, before anything is looked up. */
export interface AgentDescription {
  readonly name: string;
  readonly description: string | undefined;
  readonly instruction: string;
  readonly model: string | undefined;
  /** Under this name a `ModelConfig` of the same file says which model. */
  readonly modelConfig: string | undefined;
  readonly mcpServers: readonly ServerUse[];
  readonly subAgents: readonly { readonly name: string; readonly node: Node }[];
  readonly source: ManifestSource;
  readonly node: Node;
}

/** The use of one MCP server by an agent. */
export interface ServerUse {
  readonly name: string;
  readonly toolNames: readonly string[] | undefined;
  readonly requireApproval: readonly string[] | undefined;
  /** Where it is, if that stands beside its name; else it is looked up. */
  readonly connection: McpServer | undefined;
  readonly node: Node;
}

/** What one manifest file describes. */
export interface Descriptions {
  readonly agents: AgentDescription[];
  readonly servers: Map<string, McpServer>;
  readonly models: Map<string, string>;
}

const API_VERSION = "kagent.dev/v1alpha2";
const RESOURCE = ["apiVersion", "kind", "metadata", "spec", "status"] as const;
const METADATA = ["name", "namespace", "labels", "annotations"] as const;

/** Reads one resource of a file into what the file describes. */
export function readResource(source: ManifestSource, node: Node, into: Descriptions): void {
  const resource = source.map(node, "the resource", RESOURCE);
  if (resource === undefined) return;
  const version = resource.needText("apiVersion");
  if (version !== undefined && !version.startsWith("kagent.dev/")) {
    source.problem(
      resource.get("apiVersion") ?? node,
      `apiVersion is "${version}"; it must be ${API_VERSION}`,
    );
  }
  const metadata = resource.need("metadata");
  const name = metadata && source.map(metadata, "metadata", METADATA)?.needText("name");
  const spec = resource.need("spec");
  const kind = resource.needText("kind");
  if (name === undefined || spec === undefined || kind === undefined) return;
  const read = KINDS[kind];
  if (read !== undefined) read(source, { name, spec, node }, into);
  else {
    const known = Object.keys(KINDS).join(", ");
    source.problem(resource.get("kind") ?? node, `kind is "${kind}"; it must be one of ${known}`);
  }
}

interface Resource {
  readonly name: string;
  readonly spec: Node;
  readonly node: Node;
}

const KINDS: {
  readonly [kind: string]: (source: ManifestSource, resource: Resource, into: Descriptions) => void;
} = {
  Agent: (source, resource, { agents }) => {
    const agent = readAgent(source, resource);
    if (agent !== undefined) agents.push(agent);
  },
  RemoteMCPServer: (source, { name, spec }, { servers }) => {
    const members = source.map(spec, "spec", ["url", "protocol", "description", "headersFrom", "timeout"]);
    const url = members?.needText("url");
    const sse = members?.text("protocol")?.toUpperCase() === "SSE";
    if (url !== undefined) servers.set(name, { url, transport: sse ? "sse" : "http" });
  },
  ModelConfig: (source, { name, spec }, { models }) => {
    const known = ["provider", "model", "apiKeySecret", "apiKeySecretKey", "openAI", "gemini", "anthropic"];
    const model = source.map(spec, "spec", known)?.needText("model");
    if (model !== undefined) models.set(name, model);
  },
};

// What a cluster needs to run an agent, and does nothing where it is run from its file.
const FOR_THE_CLUSTER = [
  "deployment",
  "a2aConfig",
  "stream",
  "executeCodeBlocks",
  "memory",
  "skills",
] as const;
const SPEC = ["type", "description", "declarative", "countersign", "skills"] as const;
const DECLARATIVE = ["systemMessage", "model", "modelConfig", "tools", ...FOR_THE_CLUSTER] as const;

function readAgent(source: ManifestSource, { name, spec, node }: Resource): AgentDescription | undefined {
  const members = source.map(spec, "spec", SPEC);
  if (members === undefined) return undefined;
  const type = members.text("type") ?? "Declarative";
  if (type !== "Declarative") {
    return source.problem(
      members.get("type") ?? spec,
      `spec.type is "${type}"; only Declarative agents run from a file`,
    );
  }
  const declared = members.need("declarative");
  const declarative = declared && source.map(declared, "spec.declarative", DECLARATIVE);
  const instruction = declarative?.needText("systemMessage");
  if (declarative === undefined || instruction === undefined) return undefined;
  for (const ignored of FOR_THE_CLUSTER) {
    const there = declarative.get(ignored);
    if (there !== undefined)
      source.warning(there, `spec.declarative.${ignored} does nothing outside a cluster`);
  }
  return {
    name,
    instruction,
    description: members.text("description"),
    model: declarative.text("model"),
    modelConfig: declarative.text("modelConfig"),
    ...readTools(source, declarative.get("tools")),
    source,
    node,
  };
}

type Tools = Pick<AgentDescription, "mcpServers" | "subAgents">;

function readTools(source: ManifestSource, node: Node | undefined): Tools {
  const mcpServers: ServerUse[] = [];
  const subAgents: AgentDescription["subAgents"][number][] = [];
  const readTool = (entry: Node): void => {
    const members = source.map(entry, "a tool", ["type", "mcpServer", "agent"]);
    const type = members?.needText("type");
    if (members === undefined || type === undefined) return;
    if (type === "McpServer") mcpServers.push(...readServerUse(source, members.need("mcpServer")));
    else if (type === "Agent") subAgents.push(...readAgentUse(source, members.need("agent")));
    else
      source.problem(
        members.get("type") ?? entry,
        `a tool's type is "${type}"; it must be McpServer or Agent`,
      );
  };
  if (node !== undefined) source.list(node, "spec.declarative.tools", readTool);
  return { mcpServers, subAgents };
}

function readAgentUse(source: ManifestSource, node: Node | undefined): AgentDescription["subAgents"] {
  const known = ["name", "namespace", "kind", "apiGroup"];
  const name = node && source.map(node, "agent", known)?.needText("name");
  return name === undefined || node === undefined ? [] : [{ name, node }];
}

const SERVER_USE = [
  "name",
  "namespace",
  "kind",
  "apiGroup",
  "toolNames",
  "requireApproval",
  "allowedHeaders",
  "countersign",
] as const;

function readServerUse(source: ManifestSource, node: Node | undefined): readonly ServerUse[] {
  const members = node && source.map(node, "mcpServer", SERVER_USE);
  const name = members?.needText("name");
  if (node === undefined || members === undefined || name === undefined) return [];
  const toolNames = members.texts("toolNames");
  const requireApproval = members.texts("requireApproval");
  checkSubset(source, members, { toolNames, requireApproval });
  const headers = members.get("allowedHeaders");
  if (headers !== undefined)
    source.warning(headers, "mcpServer.allowedHeaders does nothing here: no headers are passed on");
  const own = members.get("countersign");
  const connection = own && readConnection(source, own, "mcpServer.countersign");
  return [{ name, toolNames, requireApproval, connection, node }];
}

/** The rule and the words of kagent's own validation. */
export function checkSubset(
  source: ManifestSource,
  members: Members,
  given: Pick<ServerUse, "toolNames" | "requireApproval">,
): void {
  const { toolNames = [], requireApproval = [] } = given;
  const stray = requireApproval.find((name) => !toolNames.includes(name));
  if (stray === undefined) return;
  const at = members.get("requireApproval") ?? members.get("require_approval") ?? members.node;
  source.problem(at, `each requireApproval entry must also appear in toolNames; "${stray}" does not`);
}
