/** A metric as it is exported. */
export interface MetricDefinition {
  /** As Prometheus spells it. */
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in seconds. */
  readonly buckets?: readonly number[];
  /**
   * Read at each scrape instead of counted: from the database, so that every process reports the same value, also after
   * restarts, or from this process's connections.
   */
  readonly readFrom?: "ledger" | "connections";
}

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const START_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600];
const PERSON_SECONDS = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];

export const METRIC_NAMES = [
  "requests",
  "requestSeconds",
  "openStreams",
  "ledgerBusy",
  "ledgerNotices",
  "listReads",
  "deliveries",
  "confirmations",
  "decisions",
  "calls",
  "decisionSeconds",
  "startSeconds",
  "pending",
  "unknownCalls",
  "unrunnable",
  "failedDeliveries",
  "connectionsLimit",
  "connections",
  "connectionWaiters",
  "statements",
  "retries",
] as const;

export type MetricName = (typeof METRIC_NAMES)[number];

/** All metrics; docs/guides/operations-metrics.md lists the same. */
export const METRICS: Readonly<Record<MetricName, MetricDefinition>> = {
  requests: {
    name: "countersign_http_requests_total",
    kind: "counter",
    help: "Requests answered.",
    labels: ["method", "route", "status"],
  },
  requestSeconds: {
    name: "countersign_http_request_duration_seconds",
    kind: "histogram",
    help: "Time from request to response; for a stream, to its first byte.",
    labels: ["method", "route"],
    buckets: REQUEST_SECONDS,
  },
  openStreams: {
    name: "countersign_http_open_streams",
    kind: "gauge",
    help: "Open event streams.",
    labels: ["route"],
  },
  ledgerBusy: {
    name: "countersign_ledger_busy_total",
    kind: "counter",
    help: "Requests that failed because a database lock timed out.",
    labels: [],
  },
  ledgerNotices: {
    name: "countersign_ledger_notices_total",
    kind: "counter",
    help: "Losses in the ledger that this process detected, by kind: new-history, lost-commits, lost-claim.",
    labels: ["kind"],
  },
  listReads: {
    name: "countersign_list_reads_total",
    kind: "counter",
    help: "Lists that could be read from a standby: standby, or why the primary was read (behind, unreachable, promoted, other-ledger, failed).",
    labels: ["outcome"],
  },
  deliveries: {
    name: "countersign_channel_deliveries_total",
    kind: "counter",
    help: "Attempts to send a message to a channel, by result.",
    labels: ["channel", "outcome"],
  },
  confirmations: {
    name: "countersign_confirmations_total",
    kind: "counter",
    help: "Confirmations by event: requested, approved, denied, expired, cancelled, restored.",
    labels: ["event"],
    readFrom: "ledger",
  },
  decisions: {
    name: "countersign_decisions_total",
    kind: "counter",
    help: "Decisions by verdict (approved, denied, refused) and by how they were sent (api, a2a, cli, …).",
    labels: ["verdict", "via"],
    readFrom: "ledger",
  },
  calls: {
    name: "countersign_calls_total",
    kind: "counter",
    help: "Calls by outcome.",
    labels: ["status"],
    readFrom: "ledger",
  },
  decisionSeconds: {
    name: "countersign_decision_duration_seconds",
    kind: "histogram",
    help: "Time from the confirmation request to its decision.",
    labels: ["verdict"],
    buckets: PERSON_SECONDS,
    readFrom: "ledger",
  },
  startSeconds: {
    name: "countersign_tool_start_delay_seconds",
    kind: "histogram",
    help: "Time from the approval to the start of the call.",
    labels: [],
    buckets: START_SECONDS,
    readFrom: "ledger",
  },
  pending: {
    name: "countersign_pending_confirmations",
    kind: "gauge",
    help: "Open confirmations; 1000 means 1000 or more.",
    labels: [],
    readFrom: "ledger",
  },
  unknownCalls: {
    name: "countersign_unknown_calls",
    kind: "gauge",
    help: "Calls whose outcome is unknown and that a person must settle; 1000 means 1000 or more.",
    labels: [],
    readFrom: "ledger",
  },
  unrunnable: {
    name: "countersign_unrunnable_calls",
    kind: "gauge",
    help: "Approved calls that no process has started for a minute, by app: no process hosts the app.",
    labels: ["app"],
    readFrom: "ledger",
  },
  failedDeliveries: {
    name: "countersign_failed_deliveries",
    kind: "gauge",
    help: "Failed deliveries, by channel; a total of 1000 means 1000 or more.",
    labels: ["channel"],
    readFrom: "ledger",
  },
  connectionsLimit: {
    name: "countersign_ledger_connections_limit",
    kind: "gauge",
    help: "Maximum size of the database connection pool.",
    labels: [],
    readFrom: "connections",
  },
  connections: {
    name: "countersign_ledger_connections",
    kind: "gauge",
    help: "Database connections in the pool, by state: busy, idle.",
    labels: ["state"],
    readFrom: "connections",
  },
  connectionWaiters: {
    name: "countersign_ledger_connection_waiters",
    kind: "gauge",
    help: "Statements waiting for a database connection.",
    labels: [],
    readFrom: "connections",
  },
  statements: {
    name: "countersign_ledger_statements_total",
    kind: "counter",
    help: "Statements sent to the database, including retries.",
    labels: [],
    readFrom: "connections",
  },
  retries: {
    name: "countersign_ledger_retries_total",
    kind: "counter",
    help: "Retried statements, by cause: conflict, connection.",
    labels: ["reason"],
    readFrom: "connections",
  },
};
