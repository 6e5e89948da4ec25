import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { CountersignError } from "../protocol/index.ts";
import type { Agent, AnyAgent, Model } from "../runtime/index.ts";
import { isMap, type Node, problemsError, type YamlProblem, YamlSource } from "../yaml/index.ts";
import { readAgentConfig } from "./agent-config.ts";
import { buildAgents } from "./build-agents.ts";
import { type AgentDescription, type Descriptions, readResource } from "./kagent.ts";
import { readServersFile } from "./mcp-servers.ts";
import {
  type AgentConnection,
  connectionOf,
  type RemoteAgentDescription,
  readAgentsFile,
} from "./remote-agents.ts";

/** An agent made from a manifest, with the manifest's name. */
export interface ManifestAgent {
  readonly name: string;
  readonly agent: Agent;
  /** Ends its connections to MCP servers. */
  close(): Promise<void>;
}

/** Options of {@link loadManifest}. */
export interface ManifestOptions {
  /** The model of agents that name none. Default: `COUNTERSIGN_MODEL`, else a scripted model that needs no key. */
  readonly model?: string | Model;
  /** Creates a remote agent: `(about) => new RemoteAgent(about)`. Needed only if a manifest names one. */
  readonly remoteAgent?: (about: RemoteAgentDescription) => AnyAgent;
}

/** The content of a manifest, and its problems. */
export interface ManifestReport {
  readonly agents: readonly string[];
  /** The remote agents that its agents use. */
  readonly remoteAgents: readonly string[];
  readonly problems: readonly YamlProblem[];
  readonly warnings: readonly YamlProblem[];
}

// Files beside a manifest that may define its MCP servers.
const SERVER_FILES = [
  "mcp-servers.yaml",
  "mcp-servers.yml",
  "mcp-servers.json",
  "mcp.json",
  ".mcp.json",
] as const;

// The same for remote agents.
const AGENT_FILES = ["remote-agents.yaml", "remote-agents.yml", "remote-agents.json"] as const;

/** Creates the agents of a manifest. Throws `invalid-option` with file, line and column of each problem. */
export function loadManifest(file: string, options: ManifestOptions = {}): readonly ManifestAgent[] {
  const read = readManifest(file);
  if (read.problems.length > 0) throw problemsError(read.problems);
  return buildAgents(read, options);
}

/** Reads a manifest without connecting to anything, and returns all its problems. */
export function checkManifest(file: string): ManifestReport {
  const manifest = readManifest(file);
  const { agents, problems, warnings } = manifest;
  const uses = agents.flatMap(({ subAgents }) => subAgents);
  const elsewhere = uses.filter((use) => connectionOf(manifest, use) !== undefined);
  return {
    agents: agents.map(({ name }) => name),
    remoteAgents: [...new Set(elsewhere.map(({ name }) => name))],
    problems,
    warnings,
  };
}

/** A manifest as it was read, with the servers that its agents use. */
export interface ReadManifest extends Descriptions {
  /** Agents elsewhere, by the names that they are used by. */
  readonly remoteAgents: ReadonlyMap<string, AgentConnection>;
  readonly problems: readonly YamlProblem[];
  readonly warnings: readonly YamlProblem[];
}

function readManifest(file: string): ReadManifest {
  const source = new YamlSource(file, textOf(file));
  const found: Descriptions = { agents: [], servers: new Map(), models: new Map() };
  for (const node of source.documents) readDocument(source, node, found);
  const beside = readBeside(file, SERVER_FILES, readServersFile);
  const elsewhere = readBeside(file, AGENT_FILES, readAgentsFile);
  const servers = new Map([...beside.found, ...found.servers]);
  const manifest = { ...found, servers, remoteAgents: elsewhere.found };
  for (const agent of found.agents) checkReferences(agent, manifest);
  const [first] = source.documents;
  if (found.agents.length === 0 && source.problems.length === 0 && first !== undefined) {
    source.problem(first, "the file describes no agent");
  }
  const problems = [...source.problems, ...beside.problems, ...elsewhere.problems];
  return { ...manifest, problems, warnings: source.warnings };
}

function readDocument(source: YamlSource, node: Node, found: Descriptions): void {
  if (!isMap(node) || node.has("apiVersion") || node.has("kind")) return readResource(source, node, found);
  const { file } = source;
  const agent = readAgentConfig(source, node, basename(file, extname(file)));
  if (agent !== undefined) found.agents.push(agent);
}

interface Beside<T> {
  readonly found: ReadonlyMap<string, T>;
  readonly problems: readonly YamlProblem[];
}

/** The content of the first of these files in the manifest's folder. */
function readBeside<T>(
  file: string,
  names: readonly string[],
  read: (source: YamlSource) => ReadonlyMap<string, T>,
): Beside<T> {
  const path = names.map((name) => join(dirname(file), name)).find((candidate) => existsSync(candidate));
  if (path === undefined) return { found: new Map(), problems: [] };
  const source = new YamlSource(path, textOf(path));
  return { found: read(source), problems: source.problems };
}

function checkReferences(
  { source, name, mcpServers, subAgents }: AgentDescription,
  { servers, agents, remoteAgents }: Pick<ReadManifest, "servers" | "agents" | "remoteAgents">,
): void {
  for (const { name: server, connection, allowedHeaders = [], node } of mcpServers) {
    const found = connection ?? servers.get(server);
    if (found !== undefined && "command" in found && allowedHeaders.length > 0)
      source.warning(node, "allowedHeaders is ignored for a server that is started by a command");
    if (found !== undefined) continue;
    source.problem(
      node,
      `there is no MCP server "${server}"; put its command or url under mcpServer.countersign, or under mcpServers.${server} in ${SERVER_FILES[0]} next to this file`,
    );
  }
  for (const sub of subAgents) {
    if (connectionOf({ agents, remoteAgents }, sub) !== undefined) continue;
    if (sub.name === name) source.problem(sub.node, `the agent "${name}" cannot be its own tool`);
    else if (!agents.some((agent) => agent.name === sub.name)) {
      source.problem(
        sub.node,
        `there is no agent "${sub.name}" in this file; for a remote agent, put its url under agent.countersign, or under agents.${sub.name} in ${AGENT_FILES[0]} beside this file`,
      );
    }
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? String(cause)})`;
    throw new CountersignError("invalid-option", `"${file}" ${why}.`, { details: { path: file }, cause });
  }
}
