import type { McpServer } from "../mcp/index.ts";
import { isMap, type Node, type YamlSource } from "../yaml/index.ts";
import { readAsking } from "./asking.ts";
import {
  type AgentDescription,
  type AgentUse,
  checkSubset,
  readAllowedHeaders,
  type ServerUse,
} from "./kagent.ts";
import { connectionIn } from "./remote-agents.ts";

const CONFIG = [
  "name",
  "model",
  "description",
  "instruction",
  "http_tools",
  "sse_tools",
  "remote_agents",
  "stream",
  "countersign",
] as const;
const SERVER = ["params", "tools", "allowed_headers", "require_approval"] as const;
const REMOTE_AGENT = ["name", "url", "headers", "description", "timeout"] as const;
const PARAMS = ["url", "headers", "timeout", "sse_read_timeout", "terminate_on_close"] as const;

/** Reads the JSON configuration that kagent's controller passes to its runtime. */
export function readAgentConfig(
  source: YamlSource,
  node: Node,
  fileName: string,
): AgentDescription | undefined {
  const members = source.map(node, "the agent config", CONFIG);
  const instruction = members?.needText("instruction");
  if (members === undefined || instruction === undefined) return undefined;
  members.warnOf(["stream"], "is ignored here");
  const read = (name: "http_tools" | "sse_tools", transport: "http" | "sse"): readonly ServerUse[] => {
    const list = members.get(name);
    if (list === undefined) return [];
    return source.list(list, name, (entry) => readServer(source, entry, { list: name, transport }));
  };
  const name = members.text("name") ?? fileName;
  if (!/^[\w.-]+$/.test(name)) {
    const at = members.get("name") ?? node;
    return source.problem(at, `invalid agent name "${name}"; use letters, digits, dashes and dots`);
  }
  return {
    name,
    instruction,
    description: members.text("description"),
    model: modelOf(source, members.get("model")),
    modelConfig: undefined,
    mcpServers: [...read("http_tools", "http"), ...read("sse_tools", "sse")],
    subAgents: readRemoteAgents(source, members.get("remote_agents")),
    asking: readAsking(source, members.get("countersign"), "countersign"),
    source,
    node,
  };
}

function readRemoteAgents(source: YamlSource, node: Node | undefined): readonly AgentUse[] {
  if (node === undefined) return [];
  return source.list(node, "remote_agents", (entry) => {
    const what = "an entry of remote_agents";
    const members = source.map(entry, what, REMOTE_AGENT);
    const name = members?.needText("name");
    const connection = members && connectionIn(source, members, what);
    members?.warnOf(["timeout"], "is ignored here");
    return name === undefined || connection === undefined ? undefined : { name, connection, node: entry };
  });
}

function modelOf(source: YamlSource, node: Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (!isMap(node)) return source.text(node, "model");
  const known = ["type", "model", "base_url", "headers", "api_key_passthrough"];
  const members = source.map(node, "model", known);
  members?.warnOf(["base_url", "headers", "api_key_passthrough"], "is ignored here");
  return members?.needText("model");
}

function readServer(
  source: YamlSource,
  entry: Node,
  { list, transport }: { readonly list: string; readonly transport: "http" | "sse" },
): ServerUse | undefined {
  const members = source.map(entry, `an entry of ${list}`, SERVER);
  const connection = members && readParams(source, members.need("params"), transport);
  if (members === undefined || connection === undefined) return undefined;
  const tools = members.texts("tools");
  const requireApproval = members.texts("require_approval");
  checkSubset(source, members, { toolNames: tools, requireApproval });
  // An empty list means all of the server's tools there.
  const toolNames = tools?.length === 0 ? undefined : tools;
  const allowedHeaders = readAllowedHeaders(source, members, "allowed_headers");
  const name = new URL(connection.url).host;
  return { name, connection, toolNames, requireApproval, allowedHeaders, node: entry };
}

type Remote = Extract<McpServer, { url: string }>;

function readParams(
  source: YamlSource,
  node: Node | undefined,
  transport: "http" | "sse",
): Remote | undefined {
  const params = node && source.map(node, "params", PARAMS);
  const url = params?.needText("url");
  if (params === undefined || url === undefined) return undefined;
  if (!URL.canParse(url))
    return source.problem(params.get("url") ?? params.node, `params.url is not a URL: ${url}`);
  params.warnOf(["timeout", "sse_read_timeout", "terminate_on_close"], "is ignored here");
  const headers = params.textMap("headers");
  return { url, transport, ...(headers === undefined ? {} : { headers }) };
}
