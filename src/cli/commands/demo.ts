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
const FIRST_APP = "office_assistant";
// The kinds of cards: arguments to change, a form, an e-mail, a file edit, a question, a deadline.
const FIRST_MESSAGES = [
  "Reimburse 2500 EUR for the team offsite in Lisbon",
  "I want 5 days off",
  "E-mail Maria that the invoice is paid",
  "Raise the Team price to 59",
  "Book a venue for the offsite",
  "Deploy 2.4.0 to production",
];
// The default user of the ADK's web page and of ours.
const FIRST_USER = "user";

export const demo: Command = {
  usage: "[--port PORT] [--db URL]",
  about:
    "Serves the example agents. They use a scripted model unless GEMINI_API_KEY or GOOGLE_API_KEY is set. On a new " +
    "ledger, one agent is asked for six things, and each waits for a person. Stop it with Ctrl-C and start it again: " +
    "they still wait, because they are stored in the ledger.",
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
    const asked = await askFirst(site);
    if (!invocation.flags.has("json")) suggest(invocation, site, { ledger: options.ledger, asked });
    return runUntilStopped(invocation, site, { ...options, stopping });
  },
};

/** Starts the first conversations in a new ledger. Returns the ids of what waits, the oldest first. */
async function askFirst(site: OpenSite): Promise<readonly string[]> {
  const runner = site.runner(FIRST_APP);
  if (runner === undefined) return [];
  const { ledger } = await runner.engine();
  const { items } = await ledger.sessions({ app: FIRST_APP }, { limit: 1 });
  // One after the other, so that they are listed in this order.
  for (const message of items.length === 0 ? FIRST_MESSAGES : [])
    await runner.send(message, { user: FIRST_USER });
  const waiting = await runner.pending();
  return waiting.toSorted((one, other) => (one.requestedAt < other.requestedAt ? -1 : 1)).map(({ id }) => id);
}

function suggest(
  invocation: Invocation,
  { url }: OpenSite,
  { ledger, asked }: { readonly ledger: string; readonly asked: readonly string[] },
): void {
  const { output } = invocation;
  const line = commandLineFor(invocation, ledger);
  const [first] = asked;
  const id = first === undefined ? undefined : shortId(first);
  output.line();
  output.line(output.style("bold", "Try"));
  output.prose(
    id === undefined
      ? `Open ${url} and ask an agent for something.`
      : `Open ${url}: ${asked.length === 1 ? "a request waits" : `${asked.length} requests wait`} for your decision. Change what you approve, or reject it with a reason.`,
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
