import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import type { Approvers } from "../../engine/index.ts";
import type { McpServer } from "../../mcp/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Flags, Invocation } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { fileOf, ledgerUrl } from "../wiring.ts";

const MOST_PORT = 65_535;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);
const DEFAULT_GRACE_SECONDS = 25;

export const MCP_FLAGS: Flags = {
  require: {
    type: "string",
    value: "TOOLS",
    help: "the tools that need approval, separated by commas (all tools of the server)",
  },
  name: { type: "string", value: "NAME", help: "the server's name in the inbox (derived from its command)" },
  url: {
    type: "string",
    value: "URL",
    help: "the URL of a running server (COUNTERSIGN_MCP_TOKEN is sent as its bearer token)",
  },
  http: {
    type: "string",
    value: "PORT",
    help: "serve clients over HTTP at /mcp on this port instead of standard input; 0 picks a free port",
  },
  host: {
    type: "string",
    value: "HOST",
    help: "with --http: the address to listen on; loopback only (127.0.0.1)",
  },
  approvers: {
    type: "string",
    value: "WHO",
    help: "who may approve, for example role:ops,ana@corp.com (local users of this machine)",
  },
  expires: {
    type: "string",
    value: "TIME",
    help: "how long a call waits for approval, for example 1h (no limit)",
  },
  timeout: {
    type: "string",
    value: "TIME",
    help: "how long an approved call may run before it becomes unknown (10m)",
  },
  grace: {
    type: "string",
    value: "SECONDS",
    help: `how long to wait for running calls when stopped (${DEFAULT_GRACE_SECONDS})`,
  },
};

/** The options of `countersign mcp`. */
export interface GatewaySettings {
  readonly name: string;
  readonly server: McpServer;
  readonly ledger: string;
  readonly require?: readonly string[];
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  readonly timeoutMs?: number;
  /** Where to listen; absent for a client on standard input. */
  readonly listen?: { readonly host: string; readonly port: number };
  readonly graceMs: number;
}

/** Reads the command line; throws `invalid-option` or `malformed-request` for invalid values. */
export function readGatewaySettings(invocation: Invocation): GatewaySettings {
  const { flags } = invocation;
  const server = serverOf(invocation);
  const require = listOf(flags.text("require"));
  const approvers = listOf(flags.text("approvers"));
  const [expires, timeout] = [flags.text("expires"), flags.text("timeout")];
  const port = flags.text("http");
  return {
    name: nameOf(flags.text("name"), server),
    server,
    ledger: absoluteLedger(invocation),
    ...(require === undefined ? {} : { require }),
    ...(approvers === undefined ? {} : { approvers: approversOf(approvers) }),
    ...(expires === undefined ? {} : { expiresInMs: parseDuration(expires, "expires") }),
    ...(timeout === undefined ? {} : { timeoutMs: parseDuration(timeout, "timeout") }),
    ...(port === undefined ? {} : { listen: { port: portOf(port), host: hostOf(flags.text("host")) } }),
    graceMs: 1_000 * (flags.number("grace", 0) ?? DEFAULT_GRACE_SECONDS),
  };
}

function serverOf({ words, flags, env }: Invocation): McpServer {
  const url = flags.text("url");
  const [command, ...args] = words;
  if ((url === undefined) === (command === undefined)) {
    throw new CountersignError(
      "malformed-request",
      "Name the server: its command after `--`, for example `countersign mcp -- npx -y SERVER`, or --url URL, but not both.",
    );
  }
  if (command !== undefined) return { command, args, env: othersEnv(env) };
  const { protocol } = URL.parse(url ?? "") ?? {};
  if (url === undefined || (protocol !== "http:" && protocol !== "https:"))
    throw invalid("url", `Invalid --url "${url}". Use an address that starts with http:// or https://.`);
  const token = env["COUNTERSIGN_MCP_TOKEN"];
  return token ? { url, headers: { authorization: `Bearer ${token}` } } : { url };
}

/** The server's environment: ours, without the variables that are meant for us. */
function othersEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const theirs = Object.entries(env).filter(([name]) => !name.startsWith("COUNTERSIGN_"));
  return Object.fromEntries(theirs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

const RUNNERS: ReadonlySet<string> = new Set([
  "npx",
  "bunx",
  "uvx",
  "node",
  "bun",
  "deno",
  "python",
  "python3",
]);

// Names of programs and folders that say nothing about the server.
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  "index",
  "main",
  "cli",
  "dist",
  "build",
  "lib",
  "src",
  "bin",
]);

// Two servers must not share a name by accident: one could run a call that was approved for the other.
function nameOf(given: string | undefined, server: McpServer): string {
  if (given !== undefined) {
    if (/^[\w.-]{1,64}$/.test(given)) return given;
    throw invalid("name", `Invalid --name "${given}". Use at most 64 letters, digits, dots and dashes.`);
  }
  const place = "url" in server ? [server.url] : [server.command, ...(server.args ?? [])];
  const digest = createHash("sha256").update(JSON.stringify(place)).digest("hex").slice(0, 6);
  return `${readableName(server)}-${digest}`;
}

function readableName(server: McpServer): string {
  if ("url" in server) return new URL(server.url).hostname.replaceAll(/[^\w.-]/g, "");
  const { command, args = [] } = server;
  const program = basename(command).replace(/\.(?:exe|cmd)$/, "");
  const word = RUNNERS.has(program) ? args.find((arg) => !arg.startsWith("-")) : undefined;
  const parts = (word ?? program).split(/[\\/]/).map((part) => part.replace(/\.[cm]?[jt]s$|\.py$/, ""));
  const name = parts.findLast((part) => part !== "" && !SAYS_NOTHING.has(part)) ?? program;
  return name.replaceAll(/[^\w.-]/g, "").slice(0, 40) || "server";
}

// A desktop client may start us in any folder, and people approve from another.
function absoluteLedger(invocation: Invocation): string {
  const url = ledgerUrl(invocation);
  const file = fileOf(url);
  return file === undefined ? url : `sqlite:${resolve(file)}`;
}

function approversOf(names: readonly string[]): Approvers {
  const roles = names.flatMap((name) => (name.startsWith("role:") ? [name.slice("role:".length)] : []));
  const users = names.filter((name) => !name.startsWith("role:"));
  return { ...(roles.length === 0 ? {} : { roles }), ...(users.length === 0 ? {} : { users }) };
}

function listOf(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function portOf(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= MOST_PORT) return Number(text);
  throw invalid("http", `Invalid --http "${text}". Use a port from 0 to ${MOST_PORT}.`);
}

function hostOf(host = "127.0.0.1"): string {
  if (LOOPBACK.has(host)) return host;
  throw invalid(
    "host",
    `Invalid --host "${host}". MCP clients do not log in, so only loopback is allowed: 127.0.0.1, ::1 or localhost.`,
  );
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
