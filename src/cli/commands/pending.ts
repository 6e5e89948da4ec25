import type { CallRecord, ConfirmationWithCall, Ledger } from "../../engine/index.ts";
import { hintForPeople, mayDecide, redact, toConfirmation } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { wordsToDecide } from "../display/card.ts";
import { cutTo } from "../display/text-width.ts";
import { relativeTime } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { shortId } from "../find-confirmation.ts";
import { inert, type Output } from "../output.ts";
import { toJson } from "../report.ts";
import { type Pending, watchPending } from "../watch-pending.ts";
import { commandLineFor, localPrincipal, withEngine } from "../wiring.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const FILTERS = ["tool", "agent", "app", "user"] as const;

export const pending: Command = {
  usage: "[--tool NAME] [--agent NAME] [--app NAME] [--user NAME] [--limit N] [--watch]",
  about:
    "Lists the open confirmations, and the calls whose outcome is unknown and that a person must settle. With --watch, a " +
    "terminal shows a live table; q quits. Long arguments are " +
    "shortened (`truncated` in --json); `show` prints them in full.",
  flags: {
    watch: { type: "boolean", help: "show a live table (needs a terminal); q quits" },
    tool: { type: "string", value: "NAME", help: "only calls to this tool" },
    agent: { type: "string", value: "NAME", help: "only calls by this agent" },
    app: { type: "string", value: "NAME", help: "only calls of this app; a gated function is gate:<name>" },
    user: { type: "string", value: "NAME", help: "only calls requested by this user" },
    limit: { type: "string", value: "N", help: `list at most this many (${DEFAULT_LIMIT})` },
    cursor: { type: "string", value: "TEXT", help: "continue from `next` of an earlier --json" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "pending", says: "lists what waits in ./countersign.db" },
    { line: "pending --watch", says: "shows a live table" },
    { line: "pending --tool reimburse --json", says: "one tool, as JSON" },
  ],
  run(invocation) {
    return withEngine(invocation, async ({ ledger }) => {
      if (isLive(invocation)) return watchPending(invocation, ledger, () => find(ledger, invocation));
      const found = await find(ledger, invocation);
      if (invocation.flags.has("json")) invocation.output.json(await toDocument(ledger, found));
      else print(invocation, found, Date.now());
      return EXIT.ok;
    });
  },
};

function isLive({ flags, output, stdin }: Invocation): boolean {
  return flags.has("watch") && output.isTerminal && stdin.isTTY && !flags.has("json");
}

async function find(ledger: Ledger, { flags }: Invocation): Promise<Pending> {
  const limit = Math.min(flags.number("limit", 1) ?? DEFAULT_LIMIT, MAX_LIMIT);
  const filter = Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = flags.text(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const cursor = flags.text("cursor");
  const page = await ledger.confirmations(
    { state: "open", ...filter },
    { preview: true, limit, ...(cursor === undefined ? {} : { cursor }) },
  );
  // A list that is filtered by requester cannot include calls without a confirmation.
  const unknown = flags.has("user") ? [] : (await ledger.unknownCalls({ preview: true, limit })).items;
  return {
    ...page,
    unknown: unknown.filter((call) =>
      (["tool", "agent", "app"] as const).every((name) => (filter[name] ?? call[name]) === call[name]),
    ),
  };
}

async function toDocument(ledger: Ledger, { items, next, unknown }: Pending): Promise<JsonObject> {
  const settling: JsonObject[] = [];
  for (const { id } of unknown) {
    const snapshot = await ledger.load({ call: id });
    if (snapshot?.call !== undefined) settling.push(toJson({ ...snapshot, call: snapshot.call }));
  }
  return {
    // As the API lists them: long values are truncated; `show --json` has them complete.
    items: items.map((item) => ({ ...toConfirmation(item, localPrincipal()) }) as unknown as JsonObject),
    ...(next === undefined ? {} : { next }),
    unknown: settling,
  };
}

function print(invocation: Invocation, { items, next, unknown }: Pending, now: number): void {
  const { output } = invocation;
  const line = commandLineFor(invocation);
  if (items.length === 0) output.line("Nothing waits for a decision.");
  for (const [index, item] of items.entries()) {
    if (index > 0) output.line();
    printOpen(output, item, now);
  }
  const [first] = items;
  if (first !== undefined) {
    output.line();
    if (next !== undefined)
      output.prose(
        `There are more. Use --limit (up to ${MAX_LIMIT}), or filter with --tool, --agent, --app and --user.`,
      );
    output.line(line(`show ${shortId(first.confirmation.id)}`));
    if (mayDecide(first.confirmation, localPrincipal()))
      output.line(line(`approve ${wordsToDecide(first.confirmation)}`));
  }
  if (unknown.length > 0) printUnknown(output, unknown, line);
}

/** Two lines: what is asked, and with which arguments. */
function printOpen(output: Output, item: ConfirmationWithCall, now: number): void {
  const { confirmation, call, truncated } = item;
  const { expiresAt, requestedAt, shown, user } = confirmation;
  const deadline = expiresAt === undefined ? "no deadline" : `expires ${relativeTime(expiresAt, now)}`;
  const about = `${cutTo(inert(user), 24)}, ${relativeTime(requestedAt, now)}, ${deadline}`;
  const tool = cutTo(inert(call.tool), 28);
  output.line(
    `${output.style("yellow", shortId(confirmation.id))}  ${output.style("bold", tool)}  ${output.style("dim", about)}`,
  );
  const indent = "          ";
  const room = output.width - indent.length - 2;
  const bar = output.style("dim", "│");
  const hint = hintForPeople(shown.hint);
  if (hint !== "") output.line(`${indent}${bar} ${cutTo(inert(inOneLine(hint), 200), room)}`);
  output.line(`${indent}${bar} ${cutTo(inert(JSON.stringify(redact(call.args, call.secrets)), 200), room)}`);
  if (truncated === true)
    output.line(`${indent}${bar} ${output.style("dim", "(shortened; `show` prints all of it)")}`);
}

function inOneLine(text: string): string {
  const lines = text.split("\n");
  return lines.map((line) => line.trim()).join(" ");
}

function printUnknown(output: Output, unknown: readonly CallRecord[], line: (words: string) => string): void {
  output.line();
  output.line(output.style(["bold", "red"], "Outcome unknown: a person must settle these."));
  for (const call of unknown) {
    const id = call.confirmation === undefined ? inert(call.id) : shortId(call.confirmation);
    output.line(`${output.style("red", id)}  ${cutTo(inert(call.tool), 28)}  attempt ${call.attempt}`);
  }
  const [first] = unknown;
  output.line();
  output.line(
    line(`show ${first?.confirmation === undefined ? (first?.id ?? "") : shortId(first.confirmation)}`),
  );
}
