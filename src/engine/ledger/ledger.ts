import type { JsonObject, JsonValue, StoredEvent } from "../../protocol/index.ts";
import type { HostedApp } from "../host.ts";
import type { Outbox } from "../journal/index.ts";
import type { ShownStatus } from "../lifecycle/index.ts";
import type { KeyValueStore } from "./key-value-store.ts";
import type { LedgerStats } from "./ledger-stats.ts";
import type {
  CallRecord,
  CallStatus,
  ChainHead,
  CheckpointRecord,
  ConfirmationRecord,
  ConfirmationStatus,
  FrameRecord,
  FrameStatus,
  JournalRecord,
  LogRow,
  SessionRecord,
  StepRecord,
  StepStatus,
} from "./records.ts";

/** What to read together, in one round trip. */
export type Target =
  | { readonly session: SessionName }
  | { readonly sessionKey: string }
  | { readonly confirmation: string }
  | { readonly call: string }
  | { readonly frame: string };

/** A session as clients name it. Ids are unique only within an app and a user. */
export interface SessionName {
  readonly app: string;
  readonly user: string;
  readonly id: string;
}

/**
 * One consistent look at a session and the thing asked for. `session.version` is the token: a commit that
 * names it succeeds only if nothing in the session has changed since.
 */
export interface Snapshot {
  /** The ledger's clock at the time of reading. */
  readonly now: number;
  readonly session: SessionRecord;
  /** The call asked for, or the one that the confirmation is about. */
  readonly call?: CallRecord;
  /** The confirmation asked for, or the call's current one. */
  readonly confirmation?: ConfirmationRecord;
  /** The frame asked for, or the one that the call belongs to. */
  readonly frame?: FrameRecord;
}

export type FrameChange = Partial<
  Pick<FrameRecord, "status" | "turn" | "calls" | "open" | "cursor" | "output" | "agent" | "path" | "lost">
> & { readonly owner?: string | null };

export type CallChange = Partial<
  Pick<
    CallRecord,
    | "status"
    | "attempt"
    | "startedAt"
    | "endedAt"
    | "confirmation"
    | "rounds"
    | "refused"
    | "result"
    | "args"
    | "originalArgs"
    | "argsDigest"
    | "definitionDigest"
    | "lost"
  >
> & { readonly owner?: string | null };

export type ConfirmationChange = Partial<
  Pick<ConfirmationRecord, "status" | "votes" | "withdrawal" | "shown" | "shownVersion" | "argsDigest">
>;

/**
 * One guarded write. An update names the status (and for a call the attempt) it expects; if the row is not
 * in it, the whole commit is refused and nothing is written.
 */
export type Write =
  | {
      readonly kind: "frame-insert";
      readonly frame: FrameRecord;
      /** Refuse if another frame of the session is `stepping` in the same branch. */
      readonly exclusive?: boolean;
    }
  | {
      readonly kind: "frame-update";
      readonly id: string;
      readonly from: FrameStatus;
      /** Refuse if another frame of the session is `stepping` in the same branch. */
      readonly exclusive?: boolean;
      readonly set: FrameChange;
    }
  | { readonly kind: "call-insert"; readonly call: CallRecord }
  | {
      readonly kind: "call-update";
      readonly id: string;
      readonly from: CallStatus;
      readonly attempt: number;
      readonly set: CallChange;
    }
  | { readonly kind: "confirmation-insert"; readonly confirmation: ConfirmationRecord }
  | {
      readonly kind: "confirmation-update";
      readonly id: string;
      readonly from: ConfirmationStatus;
      /** Judged by the ledger's clock inside the transaction. */
      readonly deadline?: "ahead" | "passed";
      readonly set: ConfirmationChange;
    }
  /** Without `from` the step must not exist; with it, it must be in that status. */
  | { readonly kind: "step"; readonly step: StepRecord; readonly from?: StepStatus }
  | { readonly kind: "state"; readonly scope: "app" | "user" | "session"; readonly delta: JsonObject }
  | { readonly kind: "remember"; readonly memo: Memo }
  /** Erases content (events, arguments, results, hints, payloads, state, journal bodies); digests stay. */
  | { readonly kind: "erase" };

/** A remembered answer under an idempotency key. */
export interface Memo {
  readonly principal: string;
  readonly route: string;
  readonly key: string;
  readonly requestDigest: string;
  readonly response: JsonValue;
  readonly expiresAt: number;
}

/** How the session row moves with a commit. */
export interface SessionChange {
  readonly nextSeq: number;
  readonly open: number;
  readonly ready: number;
  readonly bytes: number;
  readonly chain: ChainHead;
  readonly updatedAt: number;
  readonly deletedAt?: number;
}

/** Everything that becomes true at one moment, or not at all. */
export interface Commit {
  /** `version: 0` creates the session; it must not exist under its key or its name. */
  readonly session: {
    readonly key: string;
    readonly version: number;
    readonly create?: SessionName;
    /**
     * The hash at the chain's head as it was read. A database that outlives its server's crash, or fails over, may have
     * lost its last unsynced commits and made others since, of the same version: a store on such a one compares this.
     */
    readonly head?: string;
  };
  readonly change: SessionChange;
  readonly writes: readonly Write[];
  /** What it says has happened. */
  readonly log: Omit<LogRow, "seq">;
  /** Refuse unless this owner's lease is running, judged inside the transaction. */
  readonly owner?: string;
  /** On disk before the promise resolves: for what is acted upon at once, a decision or a claim. */
  readonly sync: boolean;
}

/**
 * `version`: the session changed, or exists already. `row`: a guarded row is not in the expected status.
 * `deadline`, `owner`, `busy`: that guard refused. `history`: as `owner`; its process has yet to confirm the ledger's
 * history, or nobody may claim yet. Read again and judge anew; nothing was written. `version`
 * comes before all others: a guard's refusal means something only for the session as it was read.
 */
export type CommitOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly conflict: "version" | "row" | "deadline" | "owner" | "history" | "busy" };

/** What a checkpoint was made of. */
export interface SealedUpon {
  /** The hash of the checkpoint before it; absent for the first. */
  readonly previous?: string;
  /** The hash of the last line of the log that it covers. */
  readonly row: string;
}

/** A page of a list; `next` is absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

export interface PageRequest {
  readonly cursor?: string;
  readonly limit?: number;
}

/** What is listed for people to look through, where nobody acts on what the list alone says. */
export interface ListRequest extends PageRequest {
  /**
   * Long arguments, results and texts are cut to their beginning, and never read whole; what was cut says so. The page
   * ends early where it would hold more than a megabyte.
   */
  readonly preview?: true;
}

/** Which calls of unknown outcome. */
export interface UnknownCallsRequest extends ListRequest {
  /** Only those about which nobody was asked. */
  readonly unasked?: true;
  /** Only those that one of these asked for. */
  readonly askedBy?: readonly string[];
}

/** `open` lists what waits for a person, nearest deadline first; `closed` the rest, newest first. */
export interface ConfirmationFilter {
  readonly state: "open" | "closed";
  readonly app?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly user?: string;
  readonly session?: string;
  /** Only those that are shown to one of these: what somebody `viewsAs`. How many others there are costs nothing. */
  readonly viewers?: readonly string[];
  /** Only those that show one of these. */
  readonly status?: readonly ShownStatus[];
  /** Only those of one turn: what `Confirmation.turn` says. Reads the session's calls, so not for hot paths. */
  readonly turn?: string;
  /**
   * Only those in whose tool, agent or arguments every one of these words is, or begins a word; see
   * `searchableWords`. Declared secrets are not found. Finds whatever was committed before it was asked, as long
   * as each commit that touches an open confirmation or its call has a journal record. Only for `open`.
   */
  readonly words?: string;
}

/** A confirmation with the call it is about, and the session's name for itself. */
export interface ConfirmationWithCall {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly session: Pick<SessionRecord, "id">;
  /** Something of it was cut; see {@link ListRequest.preview}. */
  readonly truncated?: true;
}

/** Which of a session's events. */
export interface EventRange {
  readonly after?: number;
  readonly limit?: number;
  readonly last?: number;
  readonly bytes?: number;
}

/** Which records or lines, by their position in the whole journal or in a session's. */
export interface JournalRange {
  readonly after: number;
  readonly limit: number;
  /** Their bodies are no more than this together; one is given at least, so that only the end gives none. */
  readonly bytes?: number;
}

/** Work that nobody is doing. */
export interface DueWork {
  /** Confirmations whose deadline has passed. */
  readonly expired: readonly string[];
  /** Approved calls that nobody has claimed. */
  readonly readyCalls: readonly string[];
  /** Frames whose turn is complete. */
  readonly readyFrames: readonly string[];
  /** Calls whose owner's lease ran out while they executed. */
  readonly lostCalls: readonly string[];
  /** Frames whose owner's lease ran out during a model step. */
  readonly lostFrames: readonly string[];
  /** The nearest deadline still ahead, by the ledger's clock. */
  readonly nextDeadline?: number;
  /** Where to go on, if some of these lists had more than fits; the others are complete. */
  readonly next?: DuePlace;
  readonly now: number;
}

/** The last of each list that goes on behind it. */
export interface DuePlace {
  readonly expired?: readonly [deadline: number, id: string];
  readonly readyCalls?: string;
  readonly readyFrames?: string;
  readonly lostCalls?: readonly [owner: string, attempt: number, id: string];
  readonly lostFrames?: readonly [owner: string, turn: number, id: string];
}

/** One process's lease on everything it has claimed. */
export interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** The history that its process has compared with what it knows; left out, the one that the ledger is on. */
  readonly history?: string;
}

/**
 * Which course of events a ledger is on. It is another one where a server was replaced by one that may not have had all
 * of the last commits: a standby, or what was restored from a backup.
 */
export interface LedgerHistory {
  readonly id: string;
  /** How long nobody may claim yet: until one lease after it was first seen, unless it is the ledger's first. */
  readonly claimsInMs: number;
}

/** What an owner holds, by the ledger's word. */
export interface HeldWork {
  /** Calls that execute under it. */
  readonly calls: readonly { readonly id: string; readonly attempt: number }[];
  /** Frames whose step is its. */
  readonly frames: readonly { readonly id: string; readonly turn: number }[];
}

/** What is known of whoever holds a claim: shown to the person who settles an unknown outcome. */
export interface OwnerState extends Omit<Owner, "history"> {
  readonly lastBeatAt: number;
  readonly leaseUntil: number;
  /** Its lease is running, by the ledger's clock, and was never lost. */
  readonly alive: boolean;
  /** Its work is others' now. One whose lease has run out, and who is not fenced yet, may still renew it. */
  readonly fenced: boolean;
}

/**
 * The durable truth. A store implements this and passes `ledgerContract`. It stores and guards; it does not
 * judge: what is legal is decided by the engine from a snapshot, and the version makes the judgement hold.
 *
 * No method keeps a transaction open after its promise settles. Expected conflicts are outcomes; a store
 * throws `ledger-busy`, `ledger-unreachable`, `closed`, or lets an `invalid` use surface as `internal`.
 */
export interface Ledger extends KeyValueStore, Outbox {
  /** The lines of the log are numbered from 1 without gaps, so that a gap is a loss. */
  readonly gapless: boolean;
  /** Gone with its process, which therefore never finds that the ledger lost something. */
  readonly volatile: boolean;
  /** Made once per database; keys the digests of arguments. */
  readonly digestKey: Uint8Array;
  /**
   * The time by the ledger's clock, as far as it is known without asking: that of its last answer, carried forward.
   * Whatever begins before anything of it is stored begins now, and not by the clock of this process.
   */
  readonly now: number;

  load(target: Target): Promise<Snapshot | undefined>;
  /** All writes, or none. */
  commit(commit: Commit): Promise<CommitOutcome>;

  /** Calls by id, in the order asked; missing ones are left out. */
  calls(ids: readonly string[]): Promise<readonly CallRecord[]>;
  /** A session's calls without a final answer. Reads the session's calls, so not for hot paths. */
  unanswered(session: string): Promise<readonly CallRecord[]>;
  steps(call: string): Promise<readonly StepRecord[]>;
  /**
   * In order of `seq`, from after `after`; or, with `last`, the newest so many, still in order. With `bytes` fewer, so
   * that they are no more than that together, as JSON; one at least.
   */
  events(session: string, range?: EventRange): Promise<readonly StoredEvent[]>;
  /** Session, `user:` and `app:` state as one object. */
  state(session: string): Promise<JsonObject>;
  sessions(
    owner: { readonly app: string; readonly user?: string },
    page?: PageRequest,
  ): Promise<Page<SessionRecord>>;
  confirmations(filter: ConfirmationFilter, page?: ListRequest): Promise<Page<ConfirmationWithCall>>;
  /** Calls whose outcome is unknown, oldest first. */
  unknownCalls(page?: UnknownCallsRequest): Promise<Page<CallRecord & { readonly truncated?: true }>>;
  recall(memo: Pick<Memo, "principal" | "route" | "key">): Promise<Memo | undefined>;

  /** Registers an owner or renews its lease. False: its lease ran out and its work was given away. */
  beat(owner: Owner, leaseMs: number): Promise<boolean>;
  /** The history that the ledger is on; one that nobody has seen yet begins with this look. */
  history(leaseMs: number): Promise<LedgerHistory>;
  /** Ends a lease early; what it still holds becomes due at once. */
  retire(owner: string): Promise<void>;
  owner(id: string): Promise<OwnerState | undefined>;
  /** What this owner holds, in no particular order. Asked with each heartbeat. */
  held(owner: string): Promise<HeldWork>;
  /**
   * What waits for a process that hosts these, at most `limit` in each list. With `after`, only the lists that it names,
   * from there on. An owner whose lease ran out is fenced by this look.
   */
  due(hosted: readonly HostedApp[], limit: number, after?: DuePlace): Promise<DueWork>;

  /** Frames of one session that are not over, in no particular order. */
  liveFrames(session: string): Promise<readonly FrameRecord[]>;
  /** Frames of one session that wait for a model step: what a step looks for before it lets go. */
  readyFrames(session: string): Promise<readonly string[]>;

  /** The log in the order of commits, for sealing and verification. */
  log(range: JournalRange): Promise<readonly LogRow[]>;
  /** One session's lines of the log; `after` is an `n`. */
  sessionLog(session: string, range: JournalRange): Promise<readonly LogRow[]>;
  /** Journal records in the order of commits, for the feed and the outbox. */
  journal(range: JournalRange & { readonly until?: number }): Promise<readonly JournalRecord[]>;
  /** The newest record; undefined where there is none. */
  lastRecord(): Promise<JournalRecord | undefined>;
  /** One session's records, in order; `after` is an `n`. */
  chain(stream: string, range: JournalRange): Promise<readonly JournalRecord[]>;
  /** Every session's key and the end of its log, deleted ones included, in key order. */
  streams(
    after: string,
    limit: number,
  ): Promise<readonly { readonly key: string; readonly chain: ChainHead }[]>;
  checkpoints(after: number, limit: number): Promise<readonly CheckpointRecord[]>;
  lastCheckpoint(): Promise<CheckpointRecord | undefined>;
  /**
   * False when another process sealed first, or when what it was made of is not there any more: a database that crashed
   * or failed over since may have lost it, and made other records of the same numbers.
   */
  seal(checkpoint: CheckpointRecord, upon?: SealedUpon): Promise<boolean>;

  /** Sessions untouched since `before` in which nothing is open, for pruning. */
  idleSessions(before: number, limit: number): Promise<readonly string[]>;
  /** Remembers a value for ever under a name, if it has none yet; resolves to the value that it has. */
  pin(name: string, value: string): Promise<string>;
  /** Drops expired memos and kept items and owners that hold nothing, and does what a search would have to do first. */
  tidy(): Promise<void>;

  /** Only of a ledger that keeps connections to a server. */
  stats?(): LedgerStats;

  /**
   * Called soon after any commit, in this process or another, and once when the ledger is closed. Spurious calls are
   * allowed, missed ones not.
   */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
