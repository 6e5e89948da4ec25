import { CountersignError } from "../../protocol/index.ts";
import { type AgentFile, findAgents } from "../agents/find-agents.ts";
import { loadAgents } from "../agents/load-agents.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { Output } from "../output.ts";
import { announce, warnBroken } from "../serving/announce.ts";
import { createLog } from "../serving/log.ts";
import { openSite } from "../serving/open-site.ts";
import { runUntilStopped } from "../serving/run-site.ts";
import { readServeOptions, SERVE_FLAGS } from "../serving/serve-options.ts";
import { isSupervised, reportPort, supervise } from "../serving/supervise.ts";
import { listenForStop } from "../signals.ts";

export const serve: Command = {
  name: "serve",
  summary: "serve agents: the ADK's API, the approvals API, the inbox",
  usage: "([FOLDER|FILE…] [--dev] | --inbox-only) [--port PORT] [--db URL] [--auth MODE]",
  about:
    "Serves the agents in a folder (this one, if none is named): every subfolder with an agent.ts (.js, .mjs) that " +
    "exports `rootAgent` or with an agent.yaml, or the folder itself. An app is called like its folder. One that cannot be loaded keeps " +
    "the server from starting; with --dev it is told and left out, and a change of a file starts anew. " +
    "With --inbox-only it serves no agents, but the inbox of a ledger on which other processes run them, such as " +
    "`countersign mcp`: what is decided here runs there. " +
    "SIGTERM or Ctrl-C finishes what runs, for up to --grace seconds, after --drain seconds in which it still answers " +
    "and says at /readyz that it is leaving; a second one ends at once. Nothing is " +
    "lost either way. Every flag but --break-glass, --dev and --inbox-only can be set as COUNTERSIGN_<NAME>, as in COUNTERSIGN_PUBLIC_URL.",
  words: { names: ["FOLDER"], optional: true, many: true },
  flags: {
    ...SERVE_FLAGS,
    dev: { type: "boolean", help: "start anew when a file of an agent changes" },
    "inbox-only": {
      type: "boolean",
      help: "no agents: the inbox of a ledger on which others run them, as `countersign mcp` does",
    },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "serve agents", says: "every agent in agents/, on http://127.0.0.1:8000" },
    { line: "serve agents/finance --dev", says: "one agent, anew after every change" },
    {
      line: "serve --inbox-only --db sqlite:/home/ana/approvals.db",
      says: "the inbox of MCP gateways on that ledger",
    },
    {
      line: "serve agents --host 0.0.0.0 --auth tokens",
      says: "for others: requests need a token",
    },
    {
      line: "serve agents --db postgres://db.internal/countersign --migrate",
      says: "on PostgreSQL; any number may start like this at once, and one of them makes the schema",
    },
  ],
  async run(invocation) {
    const { flags } = invocation;
    const options = readServeOptions(invocation);
    const files = agentFiles(invocation);
    const supervised = isSupervised(invocation);
    if (flags.has("dev") && !supervised) return supervise(invocation, files);
    const stopping = listenForStop(invocation.exitNow);
    const loaded = await loadAgents(files);
    const site = await openSite(options, loaded, { log: createLog(), lenient: supervised });
    if (supervised) reportPort(site.port);
    announce(invocation, site, options);
    warnBroken(site, errorOutput(invocation));
    return runUntilStopped(invocation, site, { ...options, stopping });
  },
};

/** The agents to serve; none where only the inbox is wanted. */
function agentFiles({ words, flags }: Invocation): readonly AgentFile[] {
  if (!flags.has("inbox-only")) return words.length === 0 ? agentsHere() : findAgents(words);
  if (words.length === 0 && !flags.has("dev")) return [];
  const other = words.length === 0 ? "--dev" : `"${words[0]}"`;
  throw new CountersignError("invalid-option", `--inbox-only serves no agents; leave out it or ${other}.`, {
    details: { field: "inbox-only" },
  });
}

function agentsHere(): readonly AgentFile[] {
  try {
    return findAgents(["."]);
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    const { code, message, details } = error;
    const advice = "Name the folder of your agents, or serve only the inbox of a ledger with --inbox-only.";
    throw new CountersignError(code, `${message} ${advice}`, { details, cause: error });
  }
}

function errorOutput({ env }: Invocation): Output {
  return new Output(process.stderr, env);
}
