import {
  eachOf,
  type FailedDelivery,
  type Ledger,
  listFailedDeliveries,
  noFailedDelivery,
  type PageRequest,
  type ToldPerson,
  toldPeople,
} from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { absoluteTime, relativeTime } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { findConfirmation, shortId } from "../../find-confirmation.ts";
import { inert, type Output } from "../../output.ts";
import { withEngine } from "../../wiring.ts";

const USUAL_LIMIT = 100;
const PAGE = 500;

export const deliveries: Command = {
  usage: "[--limit N]",
  about:
    "A message to a channel (a webhook, for example) is undelivered when sending failed for three days, or when the " +
    "recipient rejected it. Lists each one: the channel and number to use with `deliveries retry`, what it was about, " +
    "when it was first tried, how often, and the last error. No decision depends on these messages.",
  flags: {
    limit: { type: "string", value: "N", help: `list at most this many (${USUAL_LIMIT})` },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "deliveries", says: "the undelivered messages" },
    { line: "deliveries --json", says: "as JSON" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    const limit = Math.floor(flags.number("limit", 1) ?? USUAL_LIMIT);
    return withEngine(invocation, async ({ ledger }) => {
      const { items, more } = await firstOf(ledger, limit);
      if (flags.has("json")) output.json({ items, more });
      else printAll(output, items, more);
      return EXIT.ok;
    });
  },
};

export const deliveriesTold: Command = {
  usage: "<id>",
  about:
    "One line per message: when, on which channel, to whom, and whether it arrived. <id> may be the last four or more " +
    "characters of an id. Channels that do not send to a single person, such as webhooks, are not listed.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "deliveries told k3f9x2ab", says: "who was notified about this confirmation" }],
  run(invocation) {
    const { output, flags, words } = invocation;
    const [given = ""] = words;
    return withEngine(invocation, async ({ ledger }) => {
      const { confirmation } = await findConfirmation(ledger, given);
      const items = await toldPeople(ledger, confirmation.id);
      if (flags.has("json")) output.json({ items });
      else printTold(output, items);
      return EXIT.ok;
    });
  },
};

export const deliveriesRetry: Command = {
  usage: "<channel> <number> | --all",
  about:
    "Queues the message as if it were new. A server that has this channel sends it; until one runs, it waits.",
  words: { names: ["<channel>", "<sequence>"], optional: true },
  flags: {
    all: { type: "boolean", help: "all undelivered messages, of all channels" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "deliveries retry webhook 1042", says: "one message" },
    { line: "deliveries retry --all", says: "all of them, after the cause is fixed" },
  ],
  run(invocation) {
    const named = namedIn(invocation);
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const revived = named === "all" ? await reviveAll(ledger) : await reviveOne(ledger, named);
      if (flags.has("json")) output.json({ revived });
      else if (named === "all") output.line(`Queued again: ${revived}.`);
      else output.line(`Queued again: ${inert(named.channel)} ${named.sequence}.`);
      return EXIT.ok;
    });
  },
};

type Named = Pick<FailedDelivery, "channel" | "sequence">;

function namedIn({ words, flags }: Invocation): Named | "all" {
  const [channel, sequence] = words;
  if (flags.has("all")) {
    if (channel === undefined) return "all";
    throw malformed(`\`deliveries retry\` takes --all or one message, not both.`);
  }
  if (channel === undefined || sequence === undefined) {
    throw malformed(
      "`deliveries retry` needs --all, or a channel and a number from `countersign deliveries`.",
    );
  }
  if (/^\d{1,15}$/.test(sequence)) return { channel, sequence: Number(sequence) };
  throw malformed(`"${sequence}" is not a message number. \`countersign deliveries\` prints the numbers.`);
}

async function firstOf(
  ledger: Ledger,
  limit: number,
): Promise<{ readonly items: readonly FailedDelivery[]; readonly more: boolean }> {
  const items: FailedDelivery[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listFailedDeliveries(ledger, pageOf(Math.min(limit - items.length, PAGE), cursor));
    items.push(...page.items);
    if (page.next === undefined || items.length >= limit) return { items, more: page.next !== undefined };
    cursor = page.next;
  }
}

function pageOf(limit: number, cursor: string | undefined): PageRequest {
  return cursor === undefined ? { limit } : { limit, cursor };
}

async function reviveOne(ledger: Ledger, named: Named): Promise<number> {
  if (!(await ledger.outbox.reviveDelivery(named.channel, named.sequence))) throw noFailedDelivery(named);
  return 1;
}

/** A delivery that fails again meanwhile is not retried a second time: the list is read once. */
async function reviveAll(ledger: Ledger): Promise<number> {
  let revived = 0;
  for await (const { channel, seq } of eachOf((page) => ledger.outbox.deadDeliveries(page), PAGE))
    if (await ledger.outbox.reviveDelivery(channel, seq)) revived += 1;
  return revived;
}

function printAll(output: Output, items: readonly FailedDelivery[], more: boolean): void {
  if (items.length === 0) return output.line("There are no undelivered messages.");
  for (const item of items) printOne(output, item);
  output.line();
  if (more) output.prose("There are more. Use --limit to see them.");
  output.prose("`countersign deliveries retry <channel> <number>` sends one again; --all sends all.");
}

const STATES: Readonly<Record<ToldPerson["state"], string>> = {
  sending: "being told",
  sent: "told",
  unsure: "perhaps told",
  failed: "not told",
};

function printTold(output: Output, items: readonly ToldPerson[]): void {
  if (items.length === 0) return output.line("No channel has notified anybody.");
  for (const { channel, person = "a room", state, at, isReply, reason } of items) {
    const words = `${STATES[state]}${isReply ? " again" : ""}`;
    output.line(`${absoluteTime(Date.parse(at))}  ${inert(channel)}  ${inert(person, 60)}  ${words}`);
    if (reason !== undefined) output.quote(reason, "    ");
  }
}

function printOne(output: Output, item: FailedDelivery): void {
  const { channel, sequence, kind, tool, confirmation, call, attempts, since, failedAt, reason } = item;
  const about = confirmation ?? call;
  const named = [
    output.style("yellow", `${inert(channel)} ${sequence}`),
    inert(kind),
    ...(tool === undefined ? [] : [output.style("bold", inert(tool, 60))]),
    ...(about === undefined ? [] : [inert(shortId(about))]),
  ];
  output.line(named.join("  "));
  const ago = relativeTime(Date.parse(failedAt), Date.now());
  const times = attempts === 1 ? "once" : `${attempts} times`;
  output.prose(`tried ${times} since ${absoluteTime(Date.parse(since))}, given up ${ago}`, "    ");
  if (reason !== "") output.quote(reason, "    ");
}

function malformed(message: string): CountersignError {
  return new CountersignError("malformed-request", message);
}
