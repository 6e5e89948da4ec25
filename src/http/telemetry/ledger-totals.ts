import {
  type JournalBodies,
  type JournalKind,
  type JournalRecord,
  type Ledger,
  parseEntry,
} from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { METRICS } from "./catalog.ts";
import { emptyHistogram, type Histogram, observed } from "./histogram.ts";
import type { Sample } from "./metrics.ts";

type CountedName = "confirmations" | "decisions" | "calls";
type TimedName = "decisionSeconds" | "startSeconds";

/** All counts of the journal up to `seq`. Stored in the ledger, so that restarts do not lose them. */
interface Totals {
  readonly seq: number;
  readonly counts: { readonly [series: string]: number };
  readonly times: { readonly [series: string]: Histogram };
  /** Apps that ever had a confirmation. */
  readonly apps: readonly string[];
}

/** The current totals. */
export interface JournalTotals {
  readonly apps: readonly string[];
  samples(metric: CountedName | TimedName): readonly Sample[];
}

const KIND = "metrics";
// If the stored shape changes, change this name: then everything is counted again from the beginning.
const ID = "journal-totals-1";
// A record may have a megabyte of arguments.
const PAGE = 100;
// A large journal that was never counted is counted over several scrapes, so that no scrape blocks for long.
const LONGEST_LOOK_MS = 500;
const TRIES = 3;
// `via` and app are names that host programs choose.
const MOST_NAMES = 500;
const NOTHING: Totals = { seq: 0, counts: {}, times: {}, apps: [] };

/**
 * Counts the journal since the last scrape of any process, and stores the sum by compare-and-set: if two processes
 * count at once, one wins and the other reads its sum.
 */
export async function readTotals(ledger: Ledger): Promise<JournalTotals> {
  let totals = NOTHING;
  for (let tries = 0; tries < TRIES; tries++) {
    const kept = await ledger.items.get(KIND, ID);
    const before = kept === undefined ? NOTHING : (kept.value as unknown as Totals);
    totals = await caughtUp(ledger, before);
    if (totals === before) break;
    const value = totals as unknown as JsonObject;
    if (await ledger.items.put({ kind: KIND, id: ID, value }, kept?.version ?? 0)) break;
  }
  return { apps: totals.apps, samples: (metric) => samplesOf(totals, metric) };
}

async function caughtUp(ledger: Ledger, before: Totals): Promise<Totals> {
  let totals = before;
  const until = performance.now() + LONGEST_LOOK_MS;
  while (performance.now() < until) {
    const records = await ledger.journal.records({ after: totals.seq, limit: PAGE });
    for (const record of records) totals = await counted(ledger, totals, record);
    if (records.length < PAGE) break;
  }
  return totals;
}

async function counted(ledger: Ledger, before: Totals, record: JournalRecord): Promise<Totals> {
  const totals = { ...before, seq: record.seq };
  const entry = parseEntry(record);
  // What cannot be read is not counted. What was erased is: only its `via` and its time are no longer known.
  if (entry.state === "unreadable") return totals;
  const count = COUNTS[entry.kind] as Count<JournalKind>;
  return count(totals, { ledger, at: record.at, body: entry.state === "erased" ? undefined : entry.body });
}

type Count<Kind extends JournalKind> = (
  totals: Totals,
  record: {
    readonly ledger: Ledger;
    readonly at: number;
    readonly body: JournalBodies[Kind] | undefined;
  },
) => Totals | Promise<Totals>;

type Decision = "confirmation-approved" | "confirmation-denied";

const nothing: Count<JournalKind> = (totals) => totals;
const closed =
  (how: string): Count<JournalKind> =>
  (totals) =>
    plus(totals, "confirmations", [how]);
const decided =
  (how: "approved" | "denied"): Count<Decision> =>
  async (before, { ledger, at, body }) => {
    const totals = plus(plus(before, "confirmations", [how]), "decisions", [how, body?.via || NO_VIA]);
    const asked = body && (await ledger.load({ confirmation: body.confirmation }));
    const requestedAt = asked?.confirmation?.requestedAt;
    return requestedAt === undefined
      ? totals
      : took(totals, "decisionSeconds", { labels: [how], ms: at - requestedAt });
  };
const ended =
  (how: string): Count<JournalKind> =>
  (totals) =>
    plus(totals, "calls", [how]);

const NO_VIA = "unknown";

const COUNTS: { readonly [kind in JournalKind]: Count<kind> } = {
  "confirmation-requested": (totals, { body }) =>
    inApp(plus(totals, "confirmations", ["requested"]), body?.app ?? ""),
  "confirmation-approved": async (before, record) => {
    const totals = await decided("approved")(before, record);
    return record.body?.started === undefined || totals.times === before.times
      ? totals
      : took(totals, "startSeconds", { labels: [], ms: 0 });
  },
  "confirmation-denied": decided("denied"),
  "vote-cast": nothing,
  "vote-withdrawn": nothing,
  "confirmation-seen": nothing,
  "confirmation-reminded": nothing,
  "confirmation-escalated": nothing,
  "confirmation-expired": closed("expired"),
  "confirmation-cancelled": closed("cancelled"),
  "confirmation-restored": closed("restored"),
  "decision-refused": (totals, { body }) => plus(totals, "decisions", ["refused", body?.via || NO_VIA]),
  "calls-started": nothing,
  "calls-answered": (totals, { body }) =>
    (body?.calls ?? []).reduce<Totals>((sum, { status }) => plus(sum, "calls", [status]), totals),
  "call-allowed": nothing,
  "call-started": async (totals, { ledger, at, body }) => {
    // Later attempts are about a crash, not about how soon an approval takes effect.
    const started = body?.attempt === 1 ? await ledger.load({ call: body.call }) : undefined;
    const decidedAt = started?.confirmation?.votes.at(-1)?.at;
    return decidedAt === undefined
      ? totals
      : took(totals, "startSeconds", { labels: [], ms: at - decidedAt });
  },
  "call-succeeded": ended("succeeded"),
  "call-failed": ended("failed"),
  "call-denied": nothing,
  "call-expired": nothing,
  "call-cancelled": ended("cancelled"),
  "call-unknown": ended("unknown"),
  "call-released": nothing,
  "call-delegated": nothing,
  "call-returned": nothing,
  "call-result": nothing,
  "call-settled": (totals, { body }) =>
    body?.status === undefined ? totals : plus(totals, "calls", [body.status]),
  "late-result": nothing,
  "grant-minted": nothing,
  "grant-used": nothing,
  "grant-refunded": nothing,
  "grant-refused": nothing,
  "grant-revoked": nothing,
  "step-started": nothing,
  "step-done": nothing,
  "step-failed": nothing,
  "delegation-made": nothing,
  "delegation-revoked": nothing,
  "hold-placed": nothing,
  "hold-released": nothing,
  "tenant-changed": nothing,
  "run-cancelled": nothing,
  "session-imported": nothing,
  "session-deleted": nothing,
  "session-pruned": nothing,
  "retention-run": nothing,
  "journal-archived": nothing,
  "journal-pruned": nothing,
  "person-erased": nothing,
};

function plus(totals: Totals, metric: CountedName, labels: readonly string[]): Totals {
  const { counts } = totals;
  const named = JSON.stringify([metric, ...labels]);
  const room = counts[named] !== undefined || Object.keys(counts).length < MOST_NAMES;
  const key = room ? named : JSON.stringify([metric, ...labels.map(() => "other")]);
  return { ...totals, counts: { ...counts, [key]: (counts[key] ?? 0) + 1 } };
}

function inApp(totals: Totals, app: string): Totals {
  const known = app === "" || totals.apps.includes(app) || totals.apps.length >= MOST_NAMES;
  return known ? totals : { ...totals, apps: [...totals.apps, app] };
}

function took(
  totals: Totals,
  metric: TimedName,
  { labels, ms }: { readonly labels: readonly string[]; readonly ms: number },
): Totals {
  const key = JSON.stringify([metric, ...labels]);
  const { buckets = [] } = METRICS[metric];
  const before = totals.times[key] ?? emptyHistogram(buckets);
  return { ...totals, times: { ...totals.times, [key]: observed(before, buckets, Math.max(ms, 0) / 1_000) } };
}

function samplesOf({ counts, times }: Totals, metric: CountedName | TimedName): readonly Sample[] {
  return [...Object.entries(counts), ...Object.entries(times)].flatMap(([key, value]) => {
    const [name, ...values] = JSON.parse(key) as string[];
    if (name !== metric) return [];
    const labels = METRICS[metric].labels.map((label, i) => [label, values[i] ?? ""]);
    return [{ labels: Object.fromEntries(labels) as Record<string, string>, value }];
  });
}
