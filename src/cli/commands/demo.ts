import { join } from "node:path";
import { EXAMPLE_AGENTS } from "../agents/example-agents.ts";
import { findAgents } from "../agents/find-agents.ts";
import { loadAgents, shortPath } from "../agents/load-agents.ts";
import type { Command, Invocation } from "../command.ts";
import { shortId } from "../find-confirmation.ts";
import { Output } from "../output.ts";
import { announce, warnBroken } from "../serving/announce.ts";
import { createLog } from "../serving/log.ts";
import { type OpenSite, openSite } from "../serving/open-site.ts";
import { runUntilStopped } from "../serving/run-site.ts";
import { readServeOptions, SERVE_FLAGS } from "../serving/serve-options.ts";
import { listenForStop } from "../signals.ts";
import { commandLineFor, DEMO_FILE, isPersistent, shellWord } from "../wiring.ts";

const DEMO_URL = `sqlite:${DEMO_FILE}`;
const FIRST_APP = "finance_assistant";
const FIRST_MESSAGE = "Reimburse me $2500";
// The default user of the ADK's web page and of ours.
const FIRST_USER = "user";

export const demo: Command = {
  name: "demo",
  summary: "start a server with example agents; one call waits for your approval",
  usage: "[--port PORT] [--db URL]",
  about:
    "Serves the example agents. They use a scripted model unless GEMINI_API_KEY or GOOGLE_API_KEY is set. On a new " +
    "ledger, one agent is asked for $2500, and the call waits for a person. Stop it with Ctrl-C and start it again: " +
    "the call still waits, because it is stored in the ledger.",
  flags: {
    ...SERVE_FLAGS,
    db: {
      type: "string",
      value: "URL",
      help: `the ledger; created if missing (COUNTERSIGN_DB, or ${DEMO_URL})`,
    },
  },
  examples: [
    { line: "demo", says: `on http://127.0.0.1:8000, with ${DEMO_FILE} in this folder` },
    { line: "demo --port 8123 --db memory:", says: "on another port, in memory only" },
  ],
  async run(invocation) {
    const options = readServeOptions(invocation, DEMO_URL);
    const stopping = listenForStop(invocation.exitNow);
    const loaded = await loadAgents(findAgents([EXAMPLE_AGENTS]));
    const site = await openSite(options, loaded, { log: createLog(), lenient: true });
    announce(invocation, site, options);
    warnBroken(site, new Output(process.stderr, invocation.env));
    const asked = await askForMoney(site);
    if (!invocation.flags.has("json")) suggest(invocation, site, { ledger: options.ledger, asked });
    return runUntilStopped(invocation, site, { ...options, stopping });
  },
};

/** Starts the first conversation in a new ledger. Returns the id of an open confirmation, if there is one. */
async function askForMoney(site: OpenSite): Promise<string | undefined> {
  const runner = site.runner(FIRST_APP);
  if (runner === undefined) return undefined;
  const { ledger } = await runner.engine();
  const { items } = await ledger.sessions({ app: FIRST_APP }, { limit: 1 });
  if (items.length === 0) await runner.send(FIRST_MESSAGE, { user: FIRST_USER });
  return (await runner.pending())[0]?.id;
}

function suggest(
  invocation: Invocation,
  { url }: OpenSite,
  { ledger, asked }: { readonly ledger: string; readonly asked: string | undefined },
): void {
  const { output } = invocation;
  const line = commandLineFor(invocation, ledger);
  const id = asked === undefined ? undefined : shortId(asked);
  output.line();
  output.line(output.style("bold", "Try"));
  output.prose(
    id === undefined
      ? `Open ${url} and ask an agent for something.`
      : `Open ${url}: a reimbursement waits for your approval (${id}).`,
    "  1. ",
  );
  if (!isPersistent(ledger)) {
    output.line();
    output.line(output.style("dim", "Ctrl-C stops it. The ledger is in memory and is lost then."));
    return;
  }
  output.prose("From a second terminal in this folder:", "  2. ");
  output.line(`   ${line("pending")}`);
  if (id !== undefined) output.line(`   ${line(`approve ${id} --wait 10`)}`);
  output.prose("Talk to an agent in the terminal, and answer its questions:", "  3. ");
  output.line(`   ${line(`run ${shellWord(shortPath(join(EXAMPLE_AGENTS, "hr_assistant")))}`)}`);
  output.line();
  output.line(output.style("dim", "Ctrl-C stops it. Waiting calls are kept."));
}
