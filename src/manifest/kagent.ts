import { type McpServer, whyNotPassed } from "../mcp/index.ts";
import type { Members, Node, YamlSource } from "../yaml/index.ts";
import { type Asking, readAsking } from "./asking.ts";
import { readConnection } from "./mcp-servers.ts";
import { type AgentConnection, readAgentConnection } from "./remote-agents.ts";

/** An agent as a manifest describes it, before anything is looked up. */
export interface AgentDescription {
  readonly name: string;
  readonly description: string | undefined;
  readonly instruction: string;
  readonly model: string | undefined;
  /** The name of a `ModelConfig` in the same file. */
  readonly modelConfig: string | undefined;
  readonly mcpServers: readonly ServerUse[];
  readonly subAgents: readonly AgentUse[];
  /** Who may decide the confirmations of all its servers, and how long. */
  readonly asking: Asking;
  readonly source: YamlSource;
  readonly node: Node;
}

/** The use of one MCP server by an agent. */
export interface ServerUse {
  readonly name: string;
  readonly toolNames: readonly string[] | undefined;
  readonly requireApproval: readonly string[] | undefined;
  /** Request headers that are passed on to the server. */
  readonly allowedHeaders: readonly string[] | undefined;
  /** Its connection, if it is given here; else it is looked up. */
  readonly connection: McpServer | undefined;
  readonly node: Node;
}

/** The use of another agent as a tool. */
export interface AgentUse {
  readonly name: string;
  /** Its connection, if it is given here; else it is an agent of the file, or looked up. */
  readonly connection: AgentConnection | undefined;
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
const METADATA = [
  "name",
  "namespace",
  "labels",
  "annotations",
  // What a cluster adds to a resource that was read back from it.
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "managedFields",
  "finalizers",
  "ownerReferences",
] as const;
// As a cluster requires it; also part of a URL here.
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Reads one resource of a file into what the file describes. */
export function readResource(source: YamlSource, node: Node, into: Descriptions): void {
  const resource = source.map(node, "the resource", RESOURCE);
  if (resource === undefined) return;
  const version = resource.needText("apiVersion");
  if (version !== undefined && !version.startsWith("kagent.dev/")) {
    source.problem(resource.get("apiVersion") ?? node, `apiVersion is "${version}"; use ${API_VERSION}`);
  }
  const name = readName(source, resource.need("metadata"));
  const spec = resource.need("spec");
  const kind = resource.needText("kind");
  if (name === undefined || spec === undefined || kind === undefined) return;
  const read = KINDS[kind];
  if (read !== undefined) read(source, { name, spec, node }, into);
  else {
    const known = Object.keys(KINDS).join(", ");
    source.problem(resource.get("kind") ?? node, `kind is "${kind}"; use one of ${known}`);
  }
}

function readName(source: YamlSource, node: Node | undefined): string | undefined {
  const metadata = node && source.map(node, "metadata", METADATA);
  const name = metadata?.needText("name");
  if (metadata === undefined || name === undefined || NAME.test(name)) return name;
  return source.problem(
    metadata.get("name") ?? metadata.node,
    `metadata.name is "${name}"; use lower-case letters, digits, dashes and dots`,
  );
}

interface Resource {
  readonly name: string;
  readonly spec: Node;
  readonly node: Node;
}

const KINDS: {
  readonly [kind: string]: (source: YamlSource, resource: Resource, into: Descriptions) => void;
} = {
  Agent: (source, resource, { agents }) => {
    const agent = readAgent(source, resource);
    if (agent !== undefined) agents.push(agent);
  },
  RemoteMCPServer: (source, { name, spec }, { servers }) => {
    const members = source.map(spec, "spec", ["url", "protocol", "description", "headersFrom", "timeout"]);
    const url = members?.needText("url");
    members?.warnOf(
      ["headersFrom"],
      "works only in a cluster; set headers with the server's url in mcp-servers.yaml",
    );
    members?.warnOf(["timeout"], "is ignored here");
    if (members === undefined || url === undefined) return;
    if (!URL.canParse(url))
      return source.problem(members.get("url") ?? spec, `spec.url is not a URL: ${url}`);
    const sse = members.text("protocol")?.toUpperCase() === "SSE";
    servers.set(name, { url, transport: sse ? "sse" : "http" });
  },
  ModelConfig: (source, { name, spec }, { models }) => {
    const known = ["provider", "model", "apiKeySecret", "apiKeySecretKey", "openAI", "gemini", "anthropic"];
    const model = source.map(spec, "spec", known)?.needText("model");
    if (model !== undefined) models.set(name, model);
  },
};

// Fields that only a cluster needs; ignored here.
const FOR_THE_CLUSTER = [
  "deployment",
  "a2aConfig",
  "stream",
  "executeCodeBlocks",
  "memory",
  "skills",
  "runtime",
  "context",
] as const;
const SPEC = ["type", "description", "declarative", "countersign", "skills"] as const;
const DECLARATIVE = ["systemMessage", "model", "modelConfig", "tools", ...FOR_THE_CLUSTER] as const;

function readAgent(source: YamlSource, { name, spec, node }: Resource): AgentDescription | undefined {
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
  declarative.warnOf(FOR_THE_CLUSTER, "is ignored outside a cluster");
  members.warnOf(["skills"], "is ignored outside a cluster");
  return {
    name,
    instruction,
    description: members.text("description"),
    model: declarative.text("model"),
    modelConfig: declarative.text("modelConfig"),
    ...readTools(source, declarative.get("tools")),
    asking: readAsking(source, members.get("countersign"), "spec.countersign"),
    source,
    node,
  };
}

type Tools = Pick<AgentDescription, "mcpServers" | "subAgents">;

function readTools(source: YamlSource, node: Node | undefined): Tools {
  const mcpServers: ServerUse[] = [];
  const subAgents: AgentUse[] = [];
  const readTool = (entry: Node): void => {
    const members = source.map(entry, "a tool", ["type", "mcpServer", "agent", "headersFrom"]);
    members?.warnOf(
      ["headersFrom"],
      "works only in a cluster; set headers with the server's url in mcp-servers.yaml",
    );
    const type = members?.needText("type");
    if (members === undefined || type === undefined) return;
    if (type === "McpServer") mcpServers.push(...readServerUse(source, members.need("mcpServer")));
    else if (type === "Agent") subAgents.push(...readAgentUse(source, members.need("agent")));
    else source.problem(members.get("type") ?? entry, `a tool's type is "${type}"; use McpServer or Agent`);
  };
  if (node !== undefined) source.list(node, "spec.declarative.tools", readTool);
  return { mcpServers, subAgents };
}

function readAgentUse(source: YamlSource, node: Node | undefined): readonly AgentUse[] {
  const known = ["name", "namespace", "kind", "apiGroup", "countersign"];
  const members = node && source.map(node, "agent", known);
  const name = members?.needText("name");
  if (name === undefined || node === undefined) return [];
  const own = members?.get("countersign");
  const connection = own && readAgentConnection(source, own, "agent.countersign");
  return [{ name, connection, node }];
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

function readServerUse(source: YamlSource, node: Node | undefined): readonly ServerUse[] {
  const members = node && source.map(node, "mcpServer", SERVER_USE);
  const name = members?.needText("name");
  if (node === undefined || members === undefined || name === undefined) return [];
  const toolNames = members.texts("toolNames");
  const requireApproval = members.texts("requireApproval");
  checkSubset(source, members, { toolNames, requireApproval });
  const allowedHeaders = readAllowedHeaders(source, members, "allowedHeaders");
  const own = members.get("countersign");
  const connection = own && readConnection(source, own, "mcpServer.countersign");
  return [{ name, toolNames, requireApproval, allowedHeaders, connection, node }];
}

/** Names of headers that may be passed on; one that may not is a problem. */
export function readAllowedHeaders(
  source: YamlSource,
  members: Members,
  name: "allowedHeaders" | "allowed_headers",
): readonly string[] | undefined {
  const names = members.texts(name);
  for (const why of names?.flatMap((header) => whyNotPassed(header) ?? []) ?? []) {
    source.problem(members.get(name) ?? members.node, `${name}: ${why}`);
  }
  return names;
}

/** The same rule and message as kagent's own validation. */
export function checkSubset(
  source: YamlSource,
  members: Members,
  given: Pick<ServerUse, "toolNames" | "requireApproval">,
): void {
  const { toolNames = [], requireApproval = [] } = given;
  const stray = requireApproval.find((name) => !toolNames.includes(name));
  if (stray === undefined) return;
  const at = members.get("requireApproval") ?? members.get("require_approval") ?? members.node;
  source.problem(at, `each requireApproval entry must also appear in toolNames; "${stray}" does not`);
}
