import { findAgents } from "../agents/find-agents.ts";
import { loadAgents } from "../agents/load-agents.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { Output } from "../output.ts";
import { announce, tellBroken } from "../serving/announce.ts";
import { createLog } from "../serving/log.ts";
import { openSite } from "../serving/open-site.ts";
import { runUntilStopped } from "../serving/run-site.ts";
import { readServeOptions, SERVE_FLAGS } from "../serving/serve-options.ts";
import { isSupervised, reportPort, supervise } from "../serving/supervise.ts";
import { listenForStop } from "../signals.ts";

export const serve: Command = {
  name: "serve",
  summary: "serve agents: the ADK's API, the approvals API, the inbox",
  usage: "[FOLDER|FILE…] [--port PORT] [--db URL] [--auth MODE] [--dev]",
  about:
    "Serves the agents in a folder (this one, if none is named): every subfolder with an agent.ts (.js, .mjs) that " +
    "exports `rootAgent` or with an agent.yaml, or the folder itself. An app is called like its folder. One that cannot be loaded keeps " +
    "the server from starting; with --dev it is told and left out, and a change of a file starts anew. " +
    "SIGTERM or Ctrl-C finishes what runs, for up to --grace seconds; a second one ends at once. Nothing is " +
    "lost either way. Every flag can be set as COUNTERSIGN_<NAME>, as in COUNTERSIGN_PUBLIC_URL.",
  words: { names: ["FOLDER"], optional: true, many: true },
  flags: {
    ...SERVE_FLAGS,
    dev: { type: "boolean", help: "start anew when a file of an agent changes" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "serve agents", says: "every agent in agents/, on http://127.0.0.1:8000" },
    { line: "serve agents/finance --dev", says: "one agent, anew after every change" },
    {
      line: "serve agents --host 0.0.0.0 --auth tokens",
      says: "for others: requests need a token",
    },
  ],
  async run(invocation) {
    const { words, flags } = invocation;
    const options = readServeOptions(invocation);
    const paths = words.length === 0 ? ["."] : words;
    const files = findAgents(paths);
    const supervised = isSupervised(invocation);
    if (flags.has("dev") && !supervised) return supervise(invocation, files);
    const stopping = listenForStop(invocation.exitNow);
    const loaded = await loadAgents(files);
    const site = await openSite(options, loaded, { log: createLog(), lenient: supervised });
    if (supervised) reportPort(site.port);
    announce(invocation, site, options);
    tellBroken(site, errorOutput(invocation));
    return runUntilStopped(invocation, site, { stopping, graceMs: options.graceMs });
  },
};

function errorOutput({ env }: Invocation): Output {
  return new Output(process.stderr, env);
}
