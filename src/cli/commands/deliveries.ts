import {
  type FailedDelivery,
  type Ledger,
  listFailedDeliveries,
  noFailedDelivery,
  type PageRequest,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../command.ts";
import { absoluteTime, relativeTime } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { shortId } from "../find-confirmation.ts";
import { inert, type Output } from "../output.ts";
import { withEngine } from "../wiring.ts";

const USUAL_LIMIT = 100;
const PAGE = 500;

export const deliveries: Command = {
  name: "deliveries",
  summary: "messages to channels that were given up, and why",
  usage: "[--limit N]",
  about:
    "A message (a webhook, for instance) that could not be sent for three days, or that its recipient does not want, " +
    "is given up and kept. Lists them: the channel and the number by which `deliveries retry` takes one, what it was to " +
    "tell, since when it was tried, how often, and what went wrong the last time. No decision depends on them.",
  flags: {
    limit: { type: "string", value: "N", help: `at most so many (${USUAL_LIMIT})` },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "deliveries", says: "what was given up" },
    { line: "deliveries --json", says: "for a program" },
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

export const deliveriesRetry: Command = {
  name: "deliveries retry",
  summary: "send again what was given up",
  usage: "<channel> <sequence> | --all",
  about:
    "Makes it due, as if it were new. It is sent by a server that has the channel; while none has, it waits.",
  words: { names: ["<channel>", "<sequence>"], optional: true },
  flags: {
    all: { type: "boolean", help: "everything that was given up, of every channel" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "deliveries retry webhook 1042", says: "this one" },
    { line: "deliveries retry --all", says: "all of them, once what was wrong is mended" },
  ],
  run(invocation) {
    const named = namedIn(invocation);
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const revived = named === "all" ? await reviveAll(ledger) : await reviveOne(ledger, named);
      if (flags.has("json")) output.json({ revived });
      else if (named === "all") output.line(`Due again: ${revived}.`);
      else output.line(`Due again: ${inert(named.channel)} ${named.sequence}.`);
      return EXIT.ok;
    });
  },
};

type Named = Pick<FailedDelivery, "channel" | "sequence">;

function namedIn({ words, flags }: Invocation): Named | "all" {
  const [channel, sequence] = words;
  if (flags.has("all")) {
    if (channel === undefined) return "all";
    throw malformed(`\`deliveries retry\` takes either --all or a message, not both.`);
  }
  if (channel === undefined || sequence === undefined) {
    throw malformed(
      "`deliveries retry` needs a channel and a number, as `countersign deliveries` prints them, or --all.",
    );
  }
  if (/^\d{1,15}$/.test(sequence)) return { channel, sequence: Number(sequence) };
  throw malformed(`"${sequence}" is no number of a message; \`countersign deliveries\` prints them.`);
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
  if (!(await ledger.reviveDelivery(named.channel, named.sequence))) throw noFailedDelivery(named);
  return 1;
}

/** What is given up anew meanwhile is not taken up a second time: the list is gone through once. */
async function reviveAll(ledger: Ledger): Promise<number> {
  let revived = 0;
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.deadDeliveries(pageOf(PAGE, cursor));
    for (const { channel, seq } of page.items) if (await ledger.reviveDelivery(channel, seq)) revived += 1;
    if (page.next === undefined) return revived;
    cursor = page.next;
  }
}

function printAll(output: Output, items: readonly FailedDelivery[], more: boolean): void {
  if (items.length === 0) return output.line("No message was given up.");
  for (const item of items) printOne(output, item);
  output.line();
  if (more) output.prose("There are more; --limit shows them.");
  output.prose("`countersign deliveries retry <channel> <sequence>` sends one again, --all all of them.");
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
