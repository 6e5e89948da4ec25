import type { JournalRecord, Ledger, Snapshot } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue, member, parseJson } from "../../protocol/index.ts";
import { METRICS } from "./catalog.ts";
import { emptyHistogram, type Histogram, observed } from "./histogram.ts";
import type { Sample } from "./metrics.ts";

type CountedName = "confirmations" | "decisions" | "calls";
type TimedName = "decisionSeconds" | "startSeconds";

/** Everything that was counted in the journal up to `seq`. Kept in the ledger, so that no restart loses it. */
interface Totals {
  readonly seq: number;
  readonly counts: { readonly [series: string]: number };
  readonly times: { readonly [series: string]: Histogram };
  /** Apps in which somebody was ever asked. */
  readonly apps: readonly string[];
}

/** What the journal says, as of now. */
export interface JournalTotals {
  readonly apps: readonly string[];
  samples(metric: CountedName | TimedName): readonly Sample[];
}

const KIND = "metrics";
// Another shape of what is kept is another name: it is then counted anew, from the beginning.
const ID = "journal-totals-1";
// A record may have a megabyte of arguments.
const PAGE = 100;
// A journal that was never counted is caught up with over several looks, not in one that blocks everybody.
const LONGEST_LOOK_MS = 500;
const TRIES = 3;
// Doors and apps have the names that host programs give them.
const MOST_NAMES = 500;
const NOTHING: Totals = { seq: 0, counts: {}, times: {}, apps: [] };

/**
 * Counts what the journal says since the last look, whoever took that, and keeps the sum by compare-and-set: of two
 * processes that look at once, one counts and the other reads its sum.
 */
export async function readTotals(ledger: Ledger): Promise<JournalTotals> {
  let totals = NOTHING;
  for (let tries = 0; tries < TRIES; tries++) {
    const kept = await ledger.kept(KIND, ID);
    const before = kept === undefined ? NOTHING : (kept.value as unknown as Totals);
    totals = await caughtUp(ledger, before);
    if (totals === before) break;
    const value = totals as unknown as JsonObject;
    if (await ledger.keep({ kind: KIND, id: ID, value }, kept?.version ?? 0)) break;
  }
  return { apps: totals.apps, samples: (metric) => samplesOf(totals, metric) };
}

async function caughtUp(ledger: Ledger, before: Totals): Promise<Totals> {
  let totals = before;
  const until = performance.now() + LONGEST_LOOK_MS;
  while (performance.now() < until) {
    const records = await ledger.journal({ after: totals.seq, limit: PAGE });
    for (const record of records) totals = await counted(ledger, totals, record);
    if (records.length < PAGE) break;
  }
  return totals;
}

async function counted(ledger: Ledger, before: Totals, record: JournalRecord): Promise<Totals> {
  const totals = { ...before, seq: record.seq };
  const entry = { record, body: bodyOf(record) };
  const [subject, event = ""] = /^([a-z]+)-([a-z]+)$/.exec(record.kind)?.slice(1) ?? [];
  switch (subject) {
    case "confirmation":
      return confirmationEvent(ledger, totals, { ...entry, event });
    case "decision":
      return plus(totals, "decisions", [event, doorOf(entry.body)]);
    case "calls":
      return event === "answered" ? answered(totals, member(entry.body, "calls")) : totals;
    case "call":
      return callEvent(ledger, totals, { ...entry, event });
    default:
      return totals;
  }
}

interface Entry {
  readonly record: JournalRecord;
  readonly body: JsonObject;
  readonly event: string;
}

async function confirmationEvent(
  ledger: Ledger,
  before: Totals,
  { record, body, event }: Entry,
): Promise<Totals> {
  const totals = inApp(plus(before, "confirmations", [event]), text(body, "app"));
  if (event !== "approved" && event !== "denied") return totals;
  const decided = plus(totals, "decisions", [event, doorOf(body)]);
  const asked = await load(ledger, { confirmation: text(body, "confirmation") });
  const requestedAt = asked?.confirmation?.requestedAt;
  if (requestedAt === undefined) return decided;
  const timed = took(decided, "decisionSeconds", { labels: [event], ms: record.at - requestedAt });
  return member(body, "started") === undefined ? timed : took(timed, "startSeconds", { labels: [], ms: 0 });
}

const ENDS: ReadonlySet<string> = new Set(["succeeded", "failed", "unknown", "cancelled"]);

async function callEvent(ledger: Ledger, totals: Totals, { record, body, event }: Entry): Promise<Totals> {
  if (ENDS.has(event)) return plus(totals, "calls", [event]);
  const settledAs = text(body, "status");
  if (event === "settled" && settledAs !== "") return plus(totals, "calls", [settledAs]);
  // Later attempts are about a crash, not about how soon an approval takes effect.
  if (event !== "started" || member(body, "attempt") !== 1) return totals;
  const started = await load(ledger, { call: text(body, "call") });
  const decidedAt = started?.confirmation?.votes.at(-1)?.at;
  return decidedAt === undefined
    ? totals
    : took(totals, "startSeconds", { labels: [], ms: record.at - decidedAt });
}

function answered(totals: Totals, calls: JsonValue | undefined): Totals {
  if (!Array.isArray(calls)) return totals;
  return calls.reduce<Totals>(
    (sum, call) => (isJsonObject(call) ? plus(sum, "calls", [text(call, "status")]) : sum),
    totals,
  );
}

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

async function load(
  ledger: Ledger,
  target: { readonly call: string } | { readonly confirmation: string },
): Promise<Snapshot | undefined> {
  return Object.values(target).includes("") ? undefined : ledger.load(target);
}

// What was erased is still counted; only its door and its time are not known any more.
function bodyOf({ body }: JournalRecord): JsonObject {
  const parsed = body === null ? undefined : parseJson(body);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : {};
}

function doorOf(body: JsonObject): string {
  return text(body, "via") || "unknown";
}

function text(body: JsonObject, name: string): string {
  const value = member(body, name);
  return typeof value === "string" ? value : "";
}
