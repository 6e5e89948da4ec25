import type { JsonObject, StoredEvent } from "../../protocol/index.ts";
import type { HostedApp } from "../host.ts";
import type { Journal, Outbox } from "../journal/index.ts";
import type { Usage } from "../questions/index.ts";
import type { Commit, CommitOutcome, Snapshot, Target } from "./commit.ts";
import type { ItemVersion, KeyValueStore } from "./key-value-store.ts";
import type {
  ConfirmationFilter,
  ConfirmationWithCall,
  EventRange,
  GrantsRequest,
  GrantWithSession,
  ListRequest,
  Page,
  PageRequest,
  SessionFilter,
  Standbys,
  UnknownCallsRequest,
} from "./lists.ts";
import type { Owners } from "./owners.ts";
import type { CallRecord, StepRecord } from "./records/call-record.ts";
import type { FrameRecord } from "./records/frame-record.ts";
import type { Pruned, SessionRecord } from "./records/session-record.ts";

/** How this process uses its database connections, and how often it retried. */
export interface LedgerStats {
  readonly pool: {
    /** How many there may be. */
    readonly size: number;
    readonly open: number;
    readonly idle: number;
    /** Statements that wait for one. */
    readonly waiting: number;
  };
  /** Statements since the ledger was opened, including retries. */
  readonly statements: number;
  /** Retries after a deadlock, a lock timeout or a serialization failure. */
  readonly retries: number;
  /** Retries after a lost connection. */
  readonly reconnects: number;
}

/** Work that nobody is doing. */
export interface DueWork {
  /** Confirmations whose deadline has passed. */
  readonly expired: readonly string[];
  /** Open confirmations with a reminder or an escalation that people have not been told of. */
  readonly unannounced: readonly string[];
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
  readonly unannounced?: readonly [due: number, id: string];
  readonly readyCalls?: string;
  readonly readyFrames?: string;
  readonly lostCalls?: readonly [owner: string, attempt: number, id: string];
  readonly lostFrames?: readonly [owner: string, turn: number, id: string];
}

/**
 * The durable state of everything. A store implements this and passes `ledgerContract`. It stores and guards; it does
 * not judge: what is legal is decided by the engine from a snapshot, and the version makes the judgement hold.
 *
 * No method keeps a transaction open after its promise settles. Expected conflicts are outcomes; a store throws
 * `ledger-busy`, `ledger-unreachable`, `closed`, or lets an `invalid` use surface as `internal`.
 */
export interface Ledger {
  /** True if everything is gone when the process ends. */
  readonly volatile: boolean;
  /** Made once per database; keys the digests of arguments. */
  readonly digestKey: Uint8Array;
  /**
   * The time by the ledger's clock, without a query: the time of its last answer, plus the time since then. Deadlines
   * start from this time, not from the process's clock.
   */
  readonly now: number;

  /** Values that belong to no session. */
  readonly items: KeyValueStore;
  readonly owners: Owners;
  readonly journal: Journal;
  readonly outbox: Outbox;
  /** Only for a ledger that has some: lists may be read there. */
  readonly standbys?: Standbys;

  load(target: Target): Promise<Snapshot | undefined>;
  /** One for each call or confirmation, in the order asked, by few reads however many they are. */
  loadAll(
    targets: readonly Extract<Target, { readonly call: string } | { readonly confirmation: string }>[],
  ): Promise<readonly (Snapshot | undefined)[]>;
  /** All writes, or none. */
  commit(commit: Commit): Promise<CommitOutcome>;

  /** Calls by id, in the order asked; missing ones are left out. */
  calls(ids: readonly string[]): Promise<readonly CallRecord[]>;
  /** A session's calls without a final answer. Reads the session's calls, so not for hot paths. */
  unanswered(session: string): Promise<readonly CallRecord[]>;
  steps(call: string): Promise<readonly StepRecord[]>;
  /**
   * In order of `seq`, after `after`; or, with `last`, that many of the newest, still in order. `bytes` limits their
   * size together, as JSON; at least one is returned.
   */
  events(session: string, range?: EventRange): Promise<readonly StoredEvent[]>;
  /** Session, `user:` and `app:` state as one object. */
  state(session: string): Promise<JsonObject>;
  sessions(which: SessionFilter, page?: PageRequest): Promise<Page<SessionRecord>>;
  confirmations(filter: ConfirmationFilter, page?: ListRequest): Promise<Page<ConfirmationWithCall>>;
  /** Calls whose outcome is unknown, oldest first. */
  unknownCalls(page?: UnknownCallsRequest): Promise<Page<CallRecord & { readonly truncated?: true }>>;
  /**
   * Grants that are neither over nor revoked, each with the session in which it was given: first those of sessions,
   * nearest end first, then those across sessions, by id.
   */
  grants(page?: GrantsRequest): Promise<Page<GrantWithSession>>;

  /**
   * What waits for a process that hosts these, at most `limit` in each list. With `after`, only the lists that it
   * names, from there on. Fences owners whose lease ran out.
   */
  due(hosted: readonly HostedApp[], limit: number, after?: DuePlace): Promise<DueWork>;

  /** Frames of one session that are not over, in no particular order. */
  liveFrames(session: string): Promise<readonly FrameRecord[]>;

  /**
   * Replaces names in what is left of an erased session: in its own name, and in who asked and decided. By its old name it
   * is still found, so that nothing runs again under it. False if there was nothing to replace. `judge` is asked if there
   * is something: nothing is replaced without the item that it names, or once that is in another version.
   */
  anonymise(
    session: string,
    names: ReadonlyMap<string, string>,
    judge: () => Promise<ItemVersion | undefined>,
  ): Promise<boolean>;
  /**
   * Leaves of an erased session its name and the end of its chain. No commit to it succeeds from then on. False if the session
   * is not erased, or has another version; or if `judge` names no item, or one that is in another version meanwhile.
   */
  bury(
    session: Pick<SessionRecord, "key" | "version">,
    pruned: Pruned,
    judge: () => Promise<ItemVersion | undefined>,
  ): Promise<boolean>;
  /** Removes expired items, and owners that hold nothing, and updates the search index. */
  tidy(): Promise<void>;

  /** What is stored. Sessions and open questions are counted only as far as these numbers. */
  usage(most: Pick<Usage, "pending" | "sessions">): Promise<Usage>;

  /** Only for a ledger that connects to a server. */
  stats?(): LedgerStats;

  /**
   * Called soon after any commit, in this process or another, and once when the ledger is closed. Spurious calls are
   * allowed, missed ones not.
   */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
