import type {
  Approvers,
  CallerOutcome,
  Confirmation,
  Call as EngineCall,
  GrantTerms,
  Principal,
  ShownStatus,
  StoredNotice,
} from "../engine/index.ts";
import type { Content, Event, JsonObject, JsonValue, Problem } from "../protocol/index.ts";

/** A page of a list. It may be short or empty and still have a `next`. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly next?: string;
  /** ISO 8601. Only if it was read from a standby of the database: everything that was stored before is in it. */
  readonly asOf?: string;
}

/** A loss that was detected in the ledger. Details are for administrators. */
export type Notice = Omit<StoredNotice, "host" | "pid" | "details"> &
  Partial<Pick<StoredNotice, "host" | "pid" | "details">>;

/** Which confirmations to list. Default: the open ones. */
export interface ListOptions {
  readonly status?: ShownStatus | "all" | readonly ShownStatus[];
  readonly tool?: string;
  readonly agent?: string;
  readonly app?: string;
  readonly user?: string;
  readonly session?: string;
  readonly turn?: string;
  /** Words in tool, agent and arguments. */
  readonly q?: string;
  /** `true`: requested by the caller. `"decidable"`: the caller may decide them now. */
  readonly mine?: boolean | "decidable";
  /** Only those that this person decided. */
  readonly decidedBy?: string;
  /** ISO 8601. Only those that were requested at this time or later. */
  readonly since?: string;
  /** ISO 8601. Only those that were requested before this time. */
  readonly until?: string;
  readonly cursor?: string;
  readonly limit?: number;
  /** How many seconds old it may be, at most 30. Default: 0, nothing is missing that was stored before. */
  readonly maxAge?: number;
}

/** Options that every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** A call that a program asks for and runs itself. */
export interface CallProposal {
  /** Names the call: the same key always means the same call. */
  readonly key: string;
  readonly app: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Default: the app. */
  readonly agent?: string;
  /** Whom it is for; needs the scope `act-as`. Default: the caller. */
  readonly user?: string;
  /** The conversation that it belongs to. Default: the key. */
  readonly thread?: string;
  /** What the tool does. */
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject;
  /** False: a person is asked only if a policy says so. Default: true. */
  readonly requireConfirmation?: boolean;
  /** Refused if the server has no policy. Default: false. */
  readonly requirePolicy?: boolean;
  /** The question to the approver. */
  readonly hint?: string;
  /** Default: the people whom a policy requires; else the requester, and if that is an agent, any other logged-in user. */
  readonly approvers?: Approvers;
  /** ISO 8601. After this time it can no longer be approved. */
  readonly deadline?: string;
  readonly amendable?: true | readonly string[];
  /** JSON pointers to arguments that only the caller may see. */
  readonly secrets?: readonly string[];
  /** Safe to run again with the same key: after a lost claim it may be claimed again. */
  readonly idempotent?: boolean;
}

/** How to claim a call. */
export interface Claiming {
  /** A random value of this process: the same value again gets the same claim, if the first answer was lost. */
  readonly nonce?: string;
  /** How long the claim lasts without a heartbeat. Default: 60. */
  readonly leaseSeconds?: number;
}

/** Proves a claim in every report. */
export interface ClaimProof {
  readonly token: string;
  readonly attempt: number;
}

/** A call that the caller may run now. */
export interface ClaimedCall extends CallerOutcome {
  readonly claim: ClaimProof & {
    /** What to run, with its secrets. */
    readonly args: JsonObject;
    /** What the approver filled in. */
    readonly payload?: JsonValue;
    readonly leaseSeconds: number;
  };
}

/** Options of everything that changes something. */
export interface WriteOptions extends CallOptions {
  /** Repeated requests with the same key count once. Without it, a lost connection throws instead of being retried. */
  readonly idempotencyKey?: string;
}

/** Calls that a policy would treat differently. */
export interface ReplayDifference {
  readonly count: number;
  readonly approved: number;
  readonly denied: number;
  /** Ids of the first of them; of those that people denied, if there are any. */
  readonly examples: readonly string[];
}

/** What a policy would have said about past calls. */
export interface ReplayReport {
  readonly calls: number;
  /** False: there are more calls than are judged at once. */
  readonly complete: boolean;
  /** From when on all calls were judged. */
  readonly judgedFrom: string;
  readonly stopsAsking: ReplayDifference;
  readonly newlyAsks: ReplayDifference;
  readonly newlyDenies: ReplayDifference;
  readonly stopsDenying: ReplayDifference;
  /** Exceptions and grants that past decisions support. Nothing is changed. */
  readonly suggestions: readonly {
    readonly rule: string;
    readonly tool: string;
    readonly unless?: string;
    readonly grants?: string;
    readonly approvals: number;
  }[];
}

/** A delegation to be made. */
export interface DelegationInput {
  /** Who votes for them. */
  readonly to: string;
  /** ISO 8601; at most a year away. */
  readonly until: string;
  /** Who is away. Default: the caller. Only administrators may name somebody else. */
  readonly from?: string;
  /** Patterns of names; `*` and `?` are wildcards. Default: all questions. */
  readonly scope?: { readonly app?: readonly string[]; readonly tool?: readonly string[] };
}

/** A decision about a confirmation. */
export interface Decision {
  readonly confirmed: boolean;
  readonly payload?: JsonValue;
  readonly reason?: string;
  readonly args?: JsonObject;
  /** Further calls like this one run without asking, within these limits. Default: as far as the rules allow. */
  readonly grant?: GrantTerms;
  /** The version that was shown; the decision is refused if it has changed since. */
  readonly version?: number;
}

/** Options of a decision. */
export interface DecideOptions extends WriteOptions {
  /** Seconds to wait for the call's end before the answer, at most 60. */
  readonly wait?: number;
}

/** The result of one of many decisions. */
export interface DecisionEntry {
  readonly id: string;
  readonly status: number;
  readonly confirmation?: Confirmation;
  readonly problem?: Problem;
}

/** What a person sees before deciding, besides the question. */
export interface ConfirmationContext {
  readonly turn: readonly Confirmation[];
  readonly earlier: readonly Confirmation[];
  readonly conversation?: readonly {
    readonly author: string;
    readonly at: string;
    readonly text: string;
    /** Who imported it; the author may not have said it. Absent for native messages. */
    readonly imported?: { readonly by: string };
  }[];
  /** Who sent the message that led to it, and how they were authenticated at that time. */
  readonly asker?: Pick<Principal, "id" | "kind" | "authenticated">;
  readonly owner?: CallOwner;
}

/** The process that holds, or last held, the claim on a call. */
export interface CallOwner {
  readonly host: string;
  readonly pid: number;
  readonly lastBeatAt: string;
  readonly alive: boolean;
}

/** A call without a confirmation. */
export interface Call extends EngineCall {
  readonly owner?: CallOwner;
}

/** The caller, and how people log in to the server. */
export interface Me {
  readonly principal: Pick<Principal, "id" | "kind" | "roles" | "scopes" | "authenticated">;
  readonly auth: string;
  readonly apps: readonly string[];
  /** Channels that people turn on for themselves, as `push`. */
  readonly channels: readonly string[];
  /** What a person can ask an app to begin with; apps whose author says nothing are left out. */
  readonly examplePrompts: { readonly [app: string]: readonly string[] };
}

/** One record of the journal. */
export interface AuditRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly session: string;
  readonly n: number;
  readonly body: JsonObject | null;
  readonly hash: string;
}

/** Which journal records to list. */
export interface AuditOptions extends CallOptions {
  /** Begin after the record with this `seq`. */
  readonly after?: number;
  /** The `next` of the page before. */
  readonly cursor?: string;
  readonly limit?: number;
  readonly session?: string;
  readonly confirmation?: string;
  readonly q?: string;
  /** As in `ListOptions`. */
  readonly maxAge?: number;
}

/** A message of the live stream. Reconnect with its `id`. */
export type StreamMessage =
  | { readonly type: "ready"; readonly id: string }
  | { readonly type: "confirmation"; readonly id: string; readonly confirmation: Confirmation }
  /** Discard your state; a snapshot follows. */
  | { readonly type: "reset"; readonly id: string; readonly reason: string }
  | { readonly type: "snapshot"; readonly id: string; readonly page: ListPage<Confirmation> };

/** The state of a stream's connection; `waiting`: until the next try. */
export type StreamState = "connecting" | "open" | "waiting";

/** Where a stream starts, and what to do while it runs. */
export interface StreamOptions {
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
  readonly onState?: (state: StreamState) => void;
}

/** A session as the ADK's routes return it; times are seconds. */
export interface Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: JsonObject;
  readonly events: readonly Event[];
  readonly lastUpdateTime: number;
  /** The first words that the user said in it; only in a list. */
  readonly title?: string;
}

/** Whose session, in which app. */
export interface SessionOwner {
  readonly app: string;
  readonly user: string;
}

/** A message to an agent. */
export interface RunRequest extends SessionOwner {
  readonly session: string;
  readonly message: string | Content;
  /** Stream text in pieces. */
  readonly streaming?: boolean;
  readonly stateDelta?: JsonObject;
}
