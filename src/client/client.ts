import type {
  CallerOutcome,
  Confirmation,
  Delegated,
  FailedDelivery,
  Grant,
  NotificationSettings,
  SessionVerification,
  SettlementInput,
  Statistics,
  ToldPerson,
  Verification,
} from "../engine/index.ts";
import type { Event, JsonValue } from "../protocol/index.ts";
import { runSse, type SessionsClient, sessionsClient } from "./agents.ts";
import { followChanges } from "./stream.ts";
import { type ClientOptions, Transport } from "./transport.ts";
import type {
  AuditOptions,
  AuditRecord,
  Call,
  CallOptions,
  CallProposal,
  ClaimedCall,
  Claiming,
  ClaimProof,
  ConfirmationContext,
  DecideOptions,
  Decision,
  DecisionEntry,
  DelegationInput,
  ListOptions,
  ListPage,
  Me,
  Notice,
  ReplayReport,
  RunRequest,
  StreamMessage,
  StreamOptions,
  WriteOptions,
} from "./types.ts";

/** Confirmations, and decisions on them. */
export interface ConfirmationsClient {
  list(filter?: ListOptions, options?: CallOptions): Promise<ListPage<Confirmation>>;
  get(id: string, options?: CallOptions): Promise<Confirmation>;
  context(id: string, options?: CallOptions): Promise<ConfirmationContext>;
  /** Checks the journal of its session. */
  verify(id: string, options?: CallOptions): Promise<SessionVerification>;
  /** Says that you have opened it. Recorded once for each person, while it is open. */
  view(id: string, options?: CallOptions): Promise<Confirmation>;
  /** Who was told of it, by which channel, oldest first. */
  deliveries(id: string, options?: CallOptions): Promise<{ readonly items: readonly ToldPerson[] }>;
  /**
   * Resolves once committed; the run continues by itself. If more votes are needed, the confirmation is still
   * `requested`.
   */
  decide(id: string, decision: Decision, options?: DecideOptions): Promise<Confirmation>;
  cancel(
    id: string,
    withdrawal?: { readonly reason?: string },
    options?: WriteOptions,
  ): Promise<Confirmation>;
  /** Withdraws the caller's own vote, while more votes are needed. */
  withdrawVote(id: string, options?: WriteOptions): Promise<Confirmation>;
  settle(id: string, settlement: SettlementInput, options?: WriteOptions): Promise<Confirmation>;
}

/** Calls that the caller runs itself; and unknown calls without a confirmation. */
export interface CallsClient {
  /** Asks for a call. Repeating the key returns the same call. */
  propose(proposal: CallProposal, options?: CallOptions): Promise<CallerOutcome>;
  /** One of the caller's own calls. With `wait`, resolves when it is no longer pending or running. */
  get(key: string, options?: CallOptions & { readonly wait?: number }): Promise<CallerOutcome>;
  /** Claims an allowed call before it runs. Throws `not-claimable`. */
  claim(key: string, claiming?: Claiming, options?: CallOptions): Promise<ClaimedCall>;
  /** Renews a claim while the call runs. Throws `claim-lost`. */
  heartbeat(
    key: string,
    proof: ClaimProof & Pick<Claiming, "leaseSeconds">,
    options?: CallOptions,
  ): Promise<CallerOutcome>;
  /** Reports that the claimed call succeeded. Throws `claim-lost`. */
  succeed(
    key: string,
    report: ClaimProof & { readonly result: JsonValue },
    options?: CallOptions,
  ): Promise<CallerOutcome>;
  /** Reports that the claimed call failed. Throws `claim-lost`. */
  fail(
    key: string,
    report: ClaimProof & { readonly error: string },
    options?: CallOptions,
  ): Promise<CallerOutcome>;
  unknown(
    page?: { readonly cursor?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<ListPage<Call>>;
  settle(id: string, settlement: SettlementInput, options?: WriteOptions): Promise<Call>;
}

/** Failed deliveries to channels. For administrators. */
export interface DeliveriesClient {
  list(
    page?: { readonly cursor?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<ListPage<FailedDelivery>>;
  /** Sends it again; resolves to the failed delivery, before it arrives. */
  retry(
    delivery: Pick<FailedDelivery, "channel" | "sequence">,
    options?: WriteOptions,
  ): Promise<FailedDelivery>;
}

/**
 * Losses that were detected in the ledger. For people who may decide; details and acknowledging are for administrators.
 */
export interface NoticesClient {
  list(options?: CallOptions): Promise<{ readonly items: readonly Notice[] }>;
  /** Hides it from everybody; resolves to it, with who acknowledged it first. */
  acknowledge(id: string, options?: CallOptions): Promise<Notice>;
}

/** How the current user is told of questions. */
export interface NotificationsClient {
  get(options?: CallOptions): Promise<NotificationSettings>;
  /** Replaces the settings. */
  set(settings: NotificationSettings, options?: CallOptions): Promise<NotificationSettings>;
}

/** Grants: approvals for further calls. */
export interface GrantsClient {
  /** Those that the caller may revoke and that are not over, nearest end first. */
  list(
    page?: { readonly cursor?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<ListPage<Grant>>;
  /** No later call runs under it. Repeating it is harmless. */
  revoke(id: string, revocation?: { readonly reason?: string }, options?: CallOptions): Promise<Grant>;
}

/** Delegations: people let others vote for them while they are away. */
export interface DelegationsClient {
  /** The delegations in force, from or to the caller; administrators get all. */
  list(options?: CallOptions): Promise<{ readonly items: readonly Delegated[] }>;
  /** Lets somebody vote for the caller. The same again makes no second one. */
  make(delegation: DelegationInput, options?: WriteOptions): Promise<Delegated>;
  /** Ends it: votes that were given by it no longer count. */
  revoke(id: string, options?: CallOptions): Promise<Delegated>;
}

/** A typed client of a Countersign server. Refusals are thrown as `CountersignProblem`. */
export interface Client {
  me(options?: CallOptions): Promise<Me>;
  readonly confirmations: ConfirmationsClient;
  readonly calls: CallsClient;
  readonly deliveries: DeliveriesClient;
  readonly notifications: NotificationsClient;
  readonly notices: NoticesClient;
  readonly grants: GrantsClient;
  readonly delegations: DelegationsClient;
  /** Decides independently: each entry is a confirmation or a problem. */
  decideMany(
    decisions: readonly (Decision & { readonly id: string })[],
    options?: WriteOptions,
  ): Promise<readonly DecisionEntry[]>;
  audit(options?: AuditOptions): Promise<ListPage<AuditRecord>>;
  verify(options?: CallOptions & { readonly head?: string }): Promise<Verification>;
  /** Judges past calls by another policy, and compares with what people decided. For administrators. */
  replayPolicy(
    replay: { readonly policy: string; readonly days?: number },
    options?: CallOptions,
  ): Promise<ReplayReport>;
  /** Everybody's numbers with the scope `metrics` or `admin`; else those of the caller's own decisions. */
  stats(
    options?: CallOptions & { readonly days?: number; readonly maxAge?: number },
  ): Promise<Statistics & Pick<ListPage<never>, "asOf">>;
  /** Every change that the caller may see; reconnects by itself. */
  stream(options?: StreamOptions): AsyncGenerator<StreamMessage>;
  /** Names of the apps that are served. */
  apps(options?: CallOptions): Promise<readonly string[]>;
  readonly sessions: SessionsClient;
  runSse(request: RunRequest, options?: WriteOptions): AsyncGenerator<Event>;
}

/** Creates a client for a server; for Node.js and browsers. */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options);
  return {
    me: ({ signal } = {}) => transport.json({ path: "/v1/me", signal }),
    confirmations: confirmationsClient(transport),
    calls: callsClient(transport),
    deliveries: deliveriesClient(transport),
    notifications: notificationsClient(transport),
    notices: noticesClient(transport),
    grants: grantsClient(transport),
    delegations: delegationsClient(transport),
    decideMany: async (decisions, { signal, idempotencyKey } = {}) => {
      const { results } = await transport.json<{ readonly results: readonly DecisionEntry[] }>({
        method: "POST",
        path: "/v1/decisions",
        body: { decisions },
        idempotencyKey,
        signal,
      });
      return results;
    },
    audit: ({ signal, ...query } = {}) => transport.json({ path: "/v1/audit", query, signal }),
    verify: ({ signal, ...query } = {}) => transport.json({ path: "/v1/audit/verify", query, signal }),
    replayPolicy: (body, { signal } = {}) =>
      transport.json({ method: "POST", path: "/v1/policy/replay", body, signal }),
    stats: ({ signal, ...query } = {}) => transport.json({ path: "/v1/stats", query, signal }),
    stream: (following) => followChanges(transport, following),
    apps: ({ signal } = {}) => transport.json({ path: "/list-apps", signal }),
    sessions: sessionsClient(transport),
    runSse: (request, running) => runSse(transport, request, running),
  };
}

function confirmationsClient(transport: Transport): ConfirmationsClient {
  const post = (path: string, body: unknown, { signal, idempotencyKey }: WriteOptions = {}) =>
    transport.json<Confirmation>({ method: "POST", path, body, idempotencyKey, signal });
  return {
    list: (query = {}, { signal } = {}) =>
      transport.json({ path: "/v1/confirmations", query: { ...query }, signal }),
    get: (id, { signal } = {}) => transport.json({ path: at(id), signal }),
    context: (id, { signal } = {}) => transport.json({ path: at(id, "/context"), signal }),
    verify: (id, { signal } = {}) => transport.json({ path: at(id, "/verification"), signal }),
    view: (id, { signal } = {}) =>
      transport.json({ method: "POST", path: at(id, "/view"), body: {}, signal }),
    deliveries: (id, { signal } = {}) => transport.json({ path: at(id, "/deliveries"), signal }),
    decide: (id, body, { signal, idempotencyKey, wait } = {}) =>
      transport.json({
        method: "POST",
        path: at(id, "/decision"),
        query: { wait },
        body,
        idempotencyKey,
        signal,
      }),
    cancel: (id, withdrawal = {}, options) => post(at(id, "/cancellation"), withdrawal, options),
    withdrawVote: (id, options) => post(at(id, "/vote-withdrawal"), {}, options),
    settle: (id, settlement, options) => post(at(id, "/settlement"), settlement, options),
  };
}

function at(id: string, what = ""): string {
  return `/v1/confirmations/${encodeURIComponent(id)}${what}`;
}

function callsClient(transport: Transport): CallsClient {
  const post = <T>(key: string, what: string, body: unknown, { signal }: CallOptions = {}): Promise<T> =>
    transport.json({ method: "POST", path: `/v1/calls/${encodeURIComponent(key)}/${what}`, body, signal });
  return {
    propose: (body, { signal } = {}) => transport.json({ method: "POST", path: "/v1/calls", body, signal }),
    get: (key, { wait, signal } = {}) =>
      transport.json({ path: `/v1/calls/${encodeURIComponent(key)}`, query: { wait }, signal }),
    claim: (key, claiming = {}, options) => post(key, "claim", claiming, options),
    heartbeat: (key, proof, options) => post(key, "heartbeat", proof, options),
    succeed: (key, report, options) => post(key, "result", report, options),
    fail: (key, report, options) => post(key, "failure", report, options),
    unknown: (query = {}, { signal } = {}) => transport.json({ path: "/v1/unknown", query, signal }),
    settle: (id, body, { signal, idempotencyKey } = {}) =>
      transport.json({
        method: "POST",
        path: `/v1/calls/${encodeURIComponent(id)}/settlement`,
        body,
        idempotencyKey,
        signal,
      }),
  };
}

function notificationsClient(transport: Transport): NotificationsClient {
  const path = "/v1/me/notifications";
  return {
    get: ({ signal } = {}) => transport.json({ path, signal }),
    set: (body, { signal } = {}) => transport.json({ method: "PUT", path, body, signal }),
  };
}

function deliveriesClient(transport: Transport): DeliveriesClient {
  return {
    list: (query = {}, { signal } = {}) => transport.json({ path: "/v1/deliveries", query, signal }),
    retry: ({ channel, sequence }, { signal, idempotencyKey } = {}) =>
      transport.json({
        method: "POST",
        path: `/v1/deliveries/${encodeURIComponent(channel)}/${sequence}/retry`,
        body: {},
        idempotencyKey,
        signal,
      }),
  };
}

function grantsClient(transport: Transport): GrantsClient {
  return {
    list: (query = {}, { signal } = {}) => transport.json({ path: "/v1/grants", query, signal }),
    revoke: (id, body = {}, { signal } = {}) =>
      transport.json({
        method: "POST",
        path: `/v1/grants/${encodeURIComponent(id)}/revoke`,
        body,
        signal,
      }),
  };
}

function delegationsClient(transport: Transport): DelegationsClient {
  return {
    list: ({ signal } = {}) => transport.json({ path: "/v1/delegations", signal }),
    make: (body, { signal, idempotencyKey } = {}) =>
      transport.json({ method: "POST", path: "/v1/delegations", body, idempotencyKey, signal }),
    revoke: (id, { signal } = {}) =>
      transport.json({
        method: "POST",
        path: `/v1/delegations/${encodeURIComponent(id)}/revocation`,
        body: {},
        signal,
      }),
  };
}

function noticesClient(transport: Transport): NoticesClient {
  return {
    list: ({ signal } = {}) => transport.json({ path: "/v1/notices", signal }),
    acknowledge: (id, { signal } = {}) =>
      transport.json({
        method: "POST",
        path: `/v1/notices/${encodeURIComponent(id)}/acknowledgement`,
        body: {},
        signal,
      }),
  };
}
