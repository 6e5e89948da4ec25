import { dirname, resolve } from "node:path";
import type { McpServer } from "../mcp/index.ts";
import type { Members, Node, YamlSource } from "../yaml/index.ts";

const CONNECTION = ["command", "args", "env", "cwd", "url", "transport", "headers", "type"] as const;

/** A connection in a manifest or in an `mcpServers` file: a command, or a URL. */
export function readConnection(source: YamlSource, node: Node, what: string): McpServer | undefined {
  const members = source.map(node, what, CONNECTION);
  if (members === undefined) return undefined;
  const command = members.text("command");
  if (command !== undefined) return commandOf(command, members, dirname(source.file));
  const url = members.text("url");
  if (url === undefined) return source.problem(node, `${what} needs a command or a url`);
  if (!URL.canParse(url))
    return source.problem(members.get("url") ?? node, `${what}.url is not a URL: ${url}`);
  return urlOf(source, url, members);
}

// Started in the folder of its manifest, so that the server can be beside it.
function commandOf(command: string, members: Members, folder: string): McpServer {
  const args = members.texts("args");
  const env = members.textMap("env");
  return {
    command,
    cwd: resolve(folder, members.text("cwd") ?? ""),
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env }),
  };
}

function urlOf(source: YamlSource, url: string, members: Members): McpServer | undefined {
  const headers = members.textMap("headers");
  const given = members.text("transport") ?? members.text("type");
  const transport = given === undefined ? undefined : TRANSPORTS[given.toLowerCase()];
  if (given !== undefined && transport === undefined) {
    return source.problem(members.node, `unknown transport "${given}"; use http or sse`);
  }
  return {
    url,
    ...(headers === undefined ? {} : { headers }),
    ...(transport === undefined ? {} : { transport }),
  };
}

const TRANSPORTS: { readonly [name: string]: "http" | "sse" } = {
  http: "http",
  streamable_http: "http",
  "streamable-http": "http",
  sse: "sse",
};

/** The servers in a file of desktop clients: `mcpServers: { name: connection }`. */
export function readServersFile(source: YamlSource): ReadonlyMap<string, McpServer> {
  const servers = new Map<string, McpServer>();
  for (const document of source.documents) {
    const root = source.map(document, "the file", ["mcpServers"]);
    const node = root?.need("mcpServers");
    if (node === undefined) continue;
    for (const [name, connection] of entriesOf(source, node)) {
      const server = readConnection(source, connection, `mcpServers.${name}`);
      if (server !== undefined) servers.set(name, server);
    }
  }
  return servers;
}

function entriesOf(source: YamlSource, node: Node): readonly (readonly [string, Node])[] {
  const entries: (readonly [string, Node])[] = [];
  const items = "items" in node ? (node.items as readonly { key?: unknown; value?: unknown }[]) : [];
  if (items.length === 0) source.problem(node, "mcpServers must be a map of names to connections");
  for (const { key, value } of items) if (value) entries.push([String(key), value as Node]);
  return entries;
}
