import type { JsonValue } from "../../protocol/index.ts";
import type { ReadLine, SealedUpon } from "../journal/index.ts";
import type {
  CheckpointRecord,
  CommitOutcome,
  ItemVersion,
  LedgerHistory,
  LogRow,
  Owner,
  OwnerState,
  SessionName,
  StoredItem,
} from "../ledger/index.ts";
import type { Usage } from "../questions/index.ts";
import type { Archive } from "./archive.ts";
import type { SessionDocument } from "./document.ts";

/** A session's document, as it was at one version. */
export interface LoadedDocument {
  readonly key: string;
  readonly version: number;
  readonly document: SessionDocument;
  /** The store's clock at the time of reading. */
  readonly now: number;
}

/** An index entry. It finds what is open, due, held, unknown or ended, without reading documents. */
export interface Entry {
  readonly facet: string;
  readonly value: string;
  readonly sort: number;
  readonly id: string;
  /** Looked at while a page is read. */
  readonly note?: string;
}

/** Entries of one facet and value, in the order of `sort`, then `id`. */
export interface EntryQuery {
  readonly facet: string;
  readonly value: string;
  readonly limit: number;
  /** Begins behind this place. */
  readonly after?: readonly [sort: number, id: string];
  readonly newestFirst?: true;
  /** Entries of every value that begins with `value`, in the order of values. Not used with `after` and `newestFirst`. */
  readonly prefix?: true;
  /** Ends with this `sort`. */
  readonly until?: number;
  /** Only entries with one of these notes. */
  readonly notes?: readonly string[];
}

/** What is held and lost, in the order of `value`, `sort`, `id`. */
export interface LostQuery {
  readonly facet: string;
  /** Begins behind this place. */
  readonly after?: readonly [value: string, sort: number, id: string];
}

/** Where an item is found. */
export type ItemKey = Pick<StoredItem, "kind" | "id">;

/** A small thing outside of sessions, under a kind and an id. */
export interface ItemChange {
  readonly kind: string;
  readonly id: string;
  /** Left out, the item is taken away. */
  readonly value?: JsonValue;
  readonly expiresAt?: number;
  /** The version that was read; 0: there was none. If left out, the members of `value` replace those of the stored value. */
  readonly read?: number;
}

/** Changes outside of sessions that are stored together, or not at all. */
export interface StoreChange {
  readonly items: readonly ItemChange[];
  /** Listeners are told of it, as of a commit. */
  readonly announce?: true;
  readonly add?: readonly Entry[];
  readonly remove?: readonly Entry[];
}

/**
 * How many items of a queue to take, and for how long. The queue's entries have the items' kind as facet, the items' ids,
 * and as `sort` when the item is due. An item's value says the same time as `nextAt`, and how often it was taken as
 * `attempt`.
 */
export interface DueTake {
  readonly kind: string;
  /** The value of its entries. */
  readonly value: string;
  readonly limit: number;
  readonly holdMs: number;
}

/** Everything that one commit changes. All of it is stored at once, or nothing. */
export interface StoreCommit extends StoreChange {
  readonly key: string;
  /** The version that was read; 0 creates the session, which must not exist under its key or its name. */
  readonly version: number;
  readonly create?: SessionName | undefined;
  /** The hash at the chain's head as it was read. A server that crashed may have made another commit of the same version. */
  readonly head?: string | undefined;
  /** Of an erased session: when it was changed last, as it was read. Renaming moves it, and leaves the version. */
  readonly changedAt?: number | undefined;
  readonly document: SessionDocument;
  readonly log: Omit<LogRow, "seq">;
  /** Kept beside its line of the log: rows that left the document with this commit, and values too long for it. */
  readonly archived?: Archive | undefined;
  readonly add: readonly Entry[];
  readonly remove: readonly Entry[];
  /**
   * Refuse unless these items are there in these versions, until the commit is done: whoever changes one of them comes
   * before it or after it. Any number of commits may check an item at once.
   */
  readonly checks?: readonly ItemVersion[] | undefined;
  /** Refuse unless the clock is before this. */
  readonly before?: number | undefined;
  /** Refuse unless the clock is at or after this. */
  readonly from?: number | undefined;
  /** Refuse unless this owner's lease is running. */
  readonly owner?: string | undefined;
  /** Erase the content of this session: bodies and archived content of its log rows. */
  readonly erase?: boolean;
  /** On disk before the promise resolves. */
  readonly sync: boolean;
  /**
   * Items that are asked for as soon as it is done. A store behind a network may read them with it, as they were before it, and
   * answer `items` from that at this very moment.
   */
  readonly wants?: readonly ItemKey[] | undefined;
}

/** Renames people in what is left of an erased session. Its version and its log stay as they are. */
export interface SessionRenaming {
  readonly key: string;
  /** That was read. */
  readonly version: number;
  /** With the session's own new name, and changed later than the one before: what was judged on that is refused. */
  readonly document: SessionDocument;
  /** What is kept beside rows of the log, by `n`. */
  readonly archives: readonly (readonly [n: number, archive: Archive])[];
  /** Refuse unless this item is there in this version. */
  readonly guard: ItemVersion;
  readonly add: readonly Entry[];
  readonly remove: readonly Entry[];
}

export interface LogRange {
  /** Only its lines. Places are their `n` then, otherwise their `seq`. */
  readonly session?: string;
  readonly after: number;
  readonly limit: number;
  readonly until?: number;
  /** The most that bodies may take together; at least one row is returned. */
  readonly bytes?: number;
  /** The newest of the range in place of the oldest; still in order. */
  readonly last?: true;
}

/** Lines of the log: a range of them, or those with these `seq`; missing ones are left out. */
export type LogQuery = LogRange | { readonly at: readonly number[] };

/** Which documents to page through. */
export type DocumentQuery =
  /** By user and id; not those of deleted sessions. */
  | {
      readonly app: string;
      readonly user?: string;
      readonly after?: readonly string[];
      readonly limit: number;
    }
  /** All of them, by key. */
  | { readonly afterKey: string; readonly limit: number };

/**
 * What a database has to do for a ledger. It keeps documents, log rows and index entries, and judges versions, leases and
 * deadlines inside its transactions; what is legal is decided above it. A ledger over it passes `ledgerContract`.
 */
export interface Store {
  /** Positions in the log have no gaps, so that a gap is a loss. */
  readonly gapless: boolean;
  /** Gone with its process. */
  readonly volatile?: true;
  /** Made once per database. */
  readonly digestKey: Uint8Array;
  /** The store's clock, as far as it is known without asking. */
  readonly now: number;

  /** By name, also if the user was renamed since (`erasedUser`). */
  load(which: { readonly key: string } | { readonly name: SessionName }): Promise<LoadedDocument | undefined>;
  /** In the order asked; missing ones are left out. */
  loadAll(keys: readonly string[]): Promise<readonly LoadedDocument[]>;
  documents(query: DocumentQuery): Promise<readonly LoadedDocument[]>;
  commit(commit: StoreCommit): Promise<CommitOutcome>;
  /** False if the session is not erased, or if it or the guard has another version than was read. Synced. */
  rename(renaming: SessionRenaming): Promise<boolean>;

  /**
   * Removes all lines of the log of these sessions, as far as they are erased; of all at the same moment. Never the newest
   * line: its position would be given out again.
   */
  dropLines(sessions: readonly string[]): Promise<void>;

  /** In the order of commits. */
  log(query: LogQuery): Promise<readonly LogRow[]>;
  /** What was stored beside a session's log line. After an erasure only digests and ids are left. */
  archive(session: string, n: number): Promise<Archive | undefined>;
  /** One page for each query, all of the same moment. */
  entries(queries: readonly EntryQuery[]): Promise<readonly (readonly Entry[])[]>;
  /**
   * Entries of what is held by an owner whose lease is not running, by owner; `limit` of each facet. This call
   * fences owners whose lease ran out.
   */
  lost(queries: readonly LostQuery[], limit: number): Promise<readonly Entry[]>;

  /** The items with these ids that have not expired; missing ones are left out. */
  items(keys: readonly ItemKey[]): Promise<readonly StoredItem[]>;
  itemsOf(
    kind: string,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly StoredItem[]>;
  /** False if an item has another version than was read, or if one of the lines `upon` is not there any more. Synced. */
  change(change: StoreChange, upon?: readonly ReadLine[]): Promise<boolean>;
  /**
   * Takes items of a queue that are due, the longest due first, as `takeItems` says. Nobody else is given them before their
   * hold ends, and nobody waits for those that somebody else is about to take. Synced.
   */
  takeDue(take: DueTake): Promise<readonly StoredItem[]>;

  beat(owner: Owner, leaseMs: number): Promise<boolean>;
  retire(owner: string): Promise<void>;
  owner(id: string): Promise<OwnerState | undefined>;
  history(leaseMs: number): Promise<LedgerHistory>;

  /** By number; with `last` the newest one. */
  checkpoints(
    which: { readonly after: number; readonly limit: number } | "last",
  ): Promise<readonly CheckpointRecord[]>;
  /**
   * False where the number is taken, or where the checkpoint before, or the line at `lastSeq`, is another than it was made
   * upon.
   */
  seal(checkpoint: CheckpointRecord, upon?: SealedUpon): Promise<boolean>;

  /** What is stored. Sessions that are not deleted and open questions are counted only as far as these numbers. */
  usage(most: Pick<Usage, "pending" | "sessions">): Promise<Usage>;

  /** Drops what has expired, and owners that hold nothing. */
  tidy(): Promise<void>;
  /** Lets the process do other things: for long walks over a store that answers without waiting for anything. */
  pause(): Promise<void>;
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
