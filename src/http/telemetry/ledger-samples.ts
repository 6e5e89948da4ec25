import type { Ledger, ListRequest, Page, Snapshot } from "../../engine/index.ts";
import type { MetricName } from "./catalog.ts";
import { connectionSamples } from "./connection-samples.ts";
import { readTotals } from "./ledger-totals.ts";
import type { Sample } from "./metrics.ts";

const COUNTED = ["confirmations", "decisions", "calls", "decisionSeconds", "startSeconds"] as const;
const MOST_COUNTED = 1_000;
const MOST_WAITING = 100;
const UNRUNNABLE_AFTER_MS = 60_000;

/** Reads all metrics of the ledger and of this process's connections once. */
export async function readLedgerSamples(ledger: Ledger): Promise<(metric: MetricName) => readonly Sample[]> {
  const totals = await readTotals(ledger);
  const pending = await countUp((page) => ledger.confirmations({ state: "open" }, page));
  const unknown = await countUp((page) => ledger.unknownCalls(page));
  const unrunnable = await countUnrunnable(ledger, totals.apps);
  const dead = (await ledger.outbox.deadDeliveries({ limit: MOST_COUNTED })).items;
  const failedDeliveries = Map.groupBy(dead, ({ channel }) => channel);
  const read: { readonly [metric in MetricName]?: readonly Sample[] } = {
    pending: [{ labels: {}, value: pending }],
    unknownCalls: [{ labels: {}, value: unknown }],
    unrunnable: [...unrunnable].map(([app, value]) => ({ labels: { app }, value })),
    failedDeliveries: [...failedDeliveries].map(([channel, { length: value }]) => ({
      labels: { channel },
      value,
    })),
    ...Object.fromEntries(COUNTED.map((metric) => [metric, totals.samples(metric)])),
    ...connectionSamples(ledger.stats?.()),
  };
  return (metric) => read[metric] ?? [];
}

/** The length of a list, counted up to a limit; a page may be short without being the last. */
async function countUp(list: (request: ListRequest) => Promise<Page<unknown>>): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    const limit = MOST_COUNTED - count;
    const page = await list({ preview: true, limit, ...(cursor === undefined ? {} : { cursor }) });
    count += page.items.length;
    if (page.next === undefined || count >= MOST_COUNTED) return count;
    cursor = page.next;
  }
}

/** A process that hosts an app claims ready calls within seconds; calls that stay ready have no host. */
async function countUnrunnable(
  ledger: Ledger,
  apps: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map(apps.map((app) => [app, 0]));
  if (apps.length === 0) return counts;
  const { readyCalls, now } = await ledger.due(
    apps.map((app) => ({ app })),
    MOST_WAITING,
  );
  for (const id of readyCalls) {
    const ready = await ledger.load({ call: id });
    const app = ready?.call?.app;
    if (app === undefined || now - readySince(ready) < UNRUNNABLE_AFTER_MS) continue;
    counts.set(app, (counts.get(app) ?? 0) + 1);
  }
  return counts;
}

function readySince(snapshot: Snapshot | undefined): number {
  return snapshot?.confirmation?.votes.at(-1)?.at ?? snapshot?.session.updatedAt ?? 0;
}
