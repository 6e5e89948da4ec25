import type { Approvers } from "../engine/index.ts";
import { isMap, type Members, type Node, type YamlSource } from "../yaml/index.ts";

/** The connection of a remote agent. */
export interface AgentConnection {
  readonly card: URL;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly description: string | undefined;
}

/** A remote agent in a manifest: the options of `RemoteAgent` of `countersign/a2a`. */
export interface RemoteAgentDescription {
  /** Its name here. */
  readonly name: string;
  readonly description?: string;
  readonly card: URL;
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly approvers?: Approvers;
}

const CARD_PATH = "/.well-known/agent-card.json";
const CONNECTION = ["url", "headers", "description"] as const;

/** A connection as a manifest, or the file beside it, has it: the agent's address, or that of its card. */
export function readAgentConnection(
  source: YamlSource,
  node: Node,
  what: string,
): AgentConnection | undefined {
  const members = source.map(node, what, CONNECTION);
  return members && connectionIn(source, members, what);
}

/** The same, of a map that says more. */
export function connectionIn(
  source: YamlSource,
  members: Members,
  what: string,
): AgentConnection | undefined {
  const url = members.needText("url");
  if (url === undefined) return undefined;
  const { protocol } = URL.parse(url) ?? {};
  if (protocol !== "http:" && protocol !== "https:") {
    const at = members.get("url") ?? members.node;
    return source.problem(at, `${what}.url is "${url}"; use an address that starts with http:// or https://`);
  }
  return { card: cardAt(url), headers: members.textMap("headers"), description: members.text("description") };
}

// An agent's card is below its address, unless that is the card's own.
function cardAt(url: string): URL {
  const place = new URL(url);
  if (!place.pathname.endsWith(".json")) place.pathname = place.pathname.replace(/\/*$/, CARD_PATH);
  return place;
}

/** The agents of a file that names them: `agents: { name: connection }`. */
export function readAgentsFile(source: YamlSource): ReadonlyMap<string, AgentConnection> {
  const agents = new Map<string, AgentConnection>();
  for (const document of source.documents) {
    const node = source.map(document, "the file", ["agents"])?.need("agents");
    if (node === undefined) continue;
    if (!isMap(node) || node.items.length === 0)
      source.problem(node, "agents must be a map of names to connections");
    else
      for (const { key, value } of node.items) {
        const name = String(key);
        const connection = readAgentConnection(source, (value ?? node) as Node, `agents.${name}`);
        if (connection !== undefined) agents.set(name, connection);
      }
  }
  return agents;
}

/** Where an agent that is used lives, if that is elsewhere; one of the same file does not. */
export function connectionOf(
  manifest: {
    readonly agents: readonly { readonly name: string }[];
    readonly remoteAgents: ReadonlyMap<string, AgentConnection>;
  },
  { name, connection }: { readonly name: string; readonly connection: AgentConnection | undefined },
): AgentConnection | undefined {
  if (connection !== undefined) return connection;
  return manifest.agents.some((agent) => agent.name === name) ? undefined : manifest.remoteAgents.get(name);
}
