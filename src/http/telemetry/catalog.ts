/** A metric as it is known outside. */
export interface MetricDefinition {
  /** As Prometheus spells it. */
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in seconds. */
  readonly buckets?: readonly number[];
  /**
   * Not counted here but read when somebody looks: from the database, so that it is the same from every process and
   * across restarts, or from this process's connections to it.
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

/** Every metric that there is; docs/guides/operations-metrics.md lists the same. */
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
    help: "From a request to its answer; of a stream, to its beginning.",
    labels: ["method", "route"],
    buckets: REQUEST_SECONDS,
  },
  openStreams: {
    name: "countersign_http_open_streams",
    kind: "gauge",
    help: "Event streams that are open.",
    labels: ["route"],
  },
  ledgerBusy: {
    name: "countersign_ledger_busy_total",
    kind: "counter",
    help: "Requests that were given up because others kept the ledger busy.",
    labels: [],
  },
  ledgerNotices: {
    name: "countersign_ledger_notices_total",
    kind: "counter",
    help: "What this process noticed the ledger to have lost: new-history, lost-commits, lost-claim.",
    labels: ["kind"],
  },
  deliveries: {
    name: "countersign_webhook_deliveries_total",
    kind: "counter",
    help: "Attempts to tell a channel, by what came of them.",
    labels: ["channel", "outcome"],
  },
  confirmations: {
    name: "countersign_confirmations_total",
    kind: "counter",
    help: "Confirmations by what happened to them: requested, approved, denied, expired, cancelled, doubted.",
    labels: ["event"],
    readFrom: "ledger",
  },
  decisions: {
    name: "countersign_decisions_total",
    kind: "counter",
    help: "Decisions by verdict (approved, denied, refused) and the door that they came through.",
    labels: ["verdict", "door"],
    readFrom: "ledger",
  },
  calls: {
    name: "countersign_calls_total",
    kind: "counter",
    help: "Calls that were entered or answered at once, by how they ended.",
    labels: ["status"],
    readFrom: "ledger",
  },
  decisionSeconds: {
    name: "countersign_decision_duration_seconds",
    kind: "histogram",
    help: "From a request for confirmation to its decision.",
    labels: ["verdict"],
    buckets: PERSON_SECONDS,
    readFrom: "ledger",
  },
  startSeconds: {
    name: "countersign_tool_start_delay_seconds",
    kind: "histogram",
    help: "From an approval to the start of its call.",
    labels: [],
    buckets: START_SECONDS,
    readFrom: "ledger",
  },
  pending: {
    name: "countersign_pending_confirmations",
    kind: "gauge",
    help: "Confirmations that wait for a person; 1000 means that many or more.",
    labels: [],
    readFrom: "ledger",
  },
  unknownCalls: {
    name: "countersign_unknown_calls",
    kind: "gauge",
    help: "Calls whose outcome a person has to settle; 1000 means that many or more.",
    labels: [],
    readFrom: "ledger",
  },
  unrunnable: {
    name: "countersign_unrunnable_calls",
    kind: "gauge",
    help: "Approved calls that no process has taken up for a minute, by app: nobody hosts it.",
    labels: ["app"],
    readFrom: "ledger",
  },
  failedDeliveries: {
    name: "countersign_given_up_deliveries",
    kind: "gauge",
    help: "Messages to channels that were given up, by channel; 1000 in all means that many or more.",
    labels: ["channel"],
    readFrom: "ledger",
  },
  connectionsLimit: {
    name: "countersign_ledger_connections_limit",
    kind: "gauge",
    help: "Connections to the database's server that the pool may have.",
    labels: [],
    readFrom: "connections",
  },
  connections: {
    name: "countersign_ledger_connections",
    kind: "gauge",
    help: "Connections in the pool, by what they do: busy, idle.",
    labels: ["state"],
    readFrom: "connections",
  },
  connectionWaiters: {
    name: "countersign_ledger_connection_waiters",
    kind: "gauge",
    help: "Statements that wait for a connection.",
    labels: [],
    readFrom: "connections",
  },
  statements: {
    name: "countersign_ledger_statements_total",
    kind: "counter",
    help: "Statements sent to the database's server, each try counted.",
    labels: [],
    readFrom: "connections",
  },
  retries: {
    name: "countersign_ledger_retries_total",
    kind: "counter",
    help: "Statements that were tried again, by what went wrong: conflict, connection.",
    labels: ["reason"],
    readFrom: "connections",
  },
};
