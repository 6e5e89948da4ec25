import { CountersignError } from "../../protocol/index.ts";
import { type AgentFile, findAgents } from "../agents/find-agents.ts";
import { type LoadedAgents, loadAgents } from "../agents/load-agents.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { Output } from "../output.ts";
import { announce, announceTenants, warnBroken } from "../serving/announce.ts";
import { createLog } from "../serving/log.ts";
import type { Opening } from "../serving/open-served.ts";
import { type ListeningSite, openSite } from "../serving/open-site.ts";
import { openTenants } from "../serving/open-tenants.ts";
import { runUntilStopped } from "../serving/run-site.ts";
import {
  type ListenOptions,
  readListenOptions,
  readServeOptions,
  SERVE_FLAGS,
} from "../serving/serve-options.ts";
import { isSupervised, reportPort, supervise } from "../serving/supervise.ts";
import { listenForStop } from "../signals.ts";
import { readTenantsOptions, TENANTS_FLAGS } from "../tenants/tenant-options.ts";

export const serve: Command = {
  usage: "([FOLDER|FILE…] [--dev] | --inbox-only) [--port PORT] [--db URL | --registry URL] [--auth MODE]",
  about:
    "Serves the agents in a folder (default: this folder): every subfolder with an agent.ts (.js, .mjs) that " +
    "exports `rootAgent` or with an agent.yaml, or the folder itself. Apps are named after their folders. If an agent cannot be loaded, " +
    "the server does not start; with --dev the agent is reported and skipped, and the server restarts when a file changes. " +
    "With --inbox-only it serves no agents, only the inbox of a ledger on which other processes run calls, such as " +
    "`countersign mcp`. A call approved here runs there. " +
    "With --registry it serves the same agents to every active tenant of a registry, each on its own ledger; see `tenants create`. " +
    "SIGTERM or Ctrl-C stops the server: for --drain seconds it still answers while /readyz fails, then it waits up to " +
    "--grace seconds for running calls. A second signal stops it at once. Nothing is silently " +
    "lost either way. Every flag except --break-glass, --dev and --inbox-only can be set as COUNTERSIGN_<NAME>, for example COUNTERSIGN_PUBLIC_URL.",
  words: { names: ["FOLDER"], optional: true, many: true },
  flags: {
    ...SERVE_FLAGS,
    dev: { type: "boolean", help: "restart when a file of an agent changes" },
    "inbox-only": {
      type: "boolean",
      help: "serve only the inbox, no agents; the calls run elsewhere, for example in `countersign mcp`",
    },
    ...LEDGER_FLAG,
    ...TENANTS_FLAGS,
  },
  examples: [
    { line: "serve agents", says: "serves every agent in agents/ on http://127.0.0.1:8000" },
    { line: "serve agents/finance --dev", says: "serves one agent, and restarts on changes" },
    {
      line: "serve --inbox-only --db sqlite:/home/ana/approvals.db",
      says: "serves the inbox of the MCP gateways on that ledger",
    },
    {
      line: "serve agents --host 0.0.0.0 --auth tokens",
      says: "serves other machines; requests need a token",
    },
    {
      line: "serve agents --db postgres://db.internal/countersign --migrate",
      says: "uses PostgreSQL; several servers may start at the same time, and one of them migrates",
    },
    {
      line: "serve agents --registry sqlite:tenants.db --tenants settings",
      says:
        "serves many tenants, with settings/NAME.env for each; needs a public URL such as " +
        "COUNTERSIGN_PUBLIC_URL=https://{tenant}.example.com",
    },
  ],
  async run(invocation) {
    const { flags } = invocation;
    const { options, open } = readSite(invocation);
    const files = agentFiles(invocation);
    const supervised = isSupervised(invocation);
    if (flags.has("dev") && !supervised) return supervise(invocation, files);
    const stopping = listenForStop(invocation.exitNow);
    const site = await open(await loadAgents(files), { log: createLog(), lenient: supervised });
    if (supervised) reportPort(site.port);
    return runUntilStopped(invocation, site, { ...options, stopping });
  },
};

/** What is served, and how to open and announce it: one ledger, or the tenants of a registry. */
interface Site {
  readonly options: ListenOptions;
  readonly open: (loaded: LoadedAgents, opening: Pick<Opening, "log" | "lenient">) => Promise<ListeningSite>;
}

function readSite(invocation: Invocation): Site {
  const tenants = readTenantsOptions(invocation);
  if (tenants !== undefined) {
    const options = { ...readListenOptions(invocation), tenants };
    return {
      options,
      open: async (loaded, opening) => {
        const site = await openTenants(options, loaded, opening);
        announceTenants(invocation, site, { tenants, agents: loaded.agents });
        warnBroken(loaded, errorOutput(invocation));
        return site;
      },
    };
  }
  const options = readServeOptions(invocation);
  return {
    options,
    open: async (loaded, opening) => {
      const site = await openSite(options, loaded, opening);
      announce(invocation, site, options);
      warnBroken(site, errorOutput(invocation));
      return site;
    },
  };
}

/** The agents to serve; none with `--inbox-only`. */
function agentFiles({ words, flags }: Invocation): readonly AgentFile[] {
  if (!flags.has("inbox-only")) return words.length === 0 ? agentsHere() : findAgents(words);
  if (words.length === 0 && !flags.has("dev")) return [];
  const other = words.length === 0 ? "--dev" : `"${words[0]}"`;
  throw new CountersignError("invalid-option", `--inbox-only cannot be combined with ${other}.`, {
    details: { field: "inbox-only" },
  });
}

function agentsHere(): readonly AgentFile[] {
  try {
    return findAgents(["."]);
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    const { code, message, details } = error;
    const advice = "Name the folder of your agents, or use --inbox-only to serve only the inbox.";
    throw new CountersignError(code, `${message} ${advice}`, { details, cause: error });
  }
}

function errorOutput({ env }: Invocation): Output {
  return new Output(process.stderr, env);
}
