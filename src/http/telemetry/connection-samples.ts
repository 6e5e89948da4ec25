import type { LedgerStats } from "../../engine/index.ts";
import type { MetricName } from "./catalog.ts";
import type { Sample } from "./metrics.ts";

/** A ledger's connection metrics; none for a ledger without connections. */
export function connectionSamples(stats: LedgerStats | undefined): {
  readonly [metric in MetricName]?: readonly Sample[];
} {
  if (stats === undefined) return {};
  const { pool, statements, retries, reconnects } = stats;
  return {
    connectionsLimit: [{ labels: {}, value: pool.size }],
    connections: [
      { labels: { state: "busy" }, value: pool.open - pool.idle },
      { labels: { state: "idle" }, value: pool.idle },
    ],
    connectionWaiters: [{ labels: {}, value: pool.waiting }],
    statements: [{ labels: {}, value: statements }],
    retries: [
      { labels: { reason: "conflict" }, value: retries },
      { labels: { reason: "connection" }, value: reconnects },
    ],
  };
}
