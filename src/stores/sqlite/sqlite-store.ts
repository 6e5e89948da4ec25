import { setImmediate } from "node:timers/promises";
import type {
  Archive,
  CheckpointRecord,
  Clock,
  CommitOutcome,
  DocumentQuery,
  Entry,
  EntryQuery,
  LedgerHistory,
  LoadedDocument,
  LogQuery,
  LogRow,
  LostQuery,
  Owner,
  OwnerState,
  ReadLine,
  SessionName,
  SessionRenaming,
  Store,
  StoreChange,
  StoreCommit,
  StoredItem,
  Usage,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { CommitQueue } from "./commits/commit-queue.ts";
import { takeDue } from "./commits/take-due.ts";
import { readyCommit, writeChange, writeCommit, writeRenaming } from "./commits/write-commit.ts";
import { Changes } from "./connection/changes.ts";
import type { Database } from "./connection/database.ts";
import { listDocuments, readDocument, readDocuments } from "./documents.ts";
import { readEntries } from "./entries.ts";
import { dropExpiredItems, listItems, readItems } from "./items.ts";
import { KnownDocuments } from "./known-documents.ts";
import { deleteLines, insertCheckpoint, readArchive, readCheckpoints, readLog, readLogAt } from "./log.ts";
import {
  beatOwner,
  dropIdleOwners,
  fenceOverdueOwners,
  hasOverdueOwner,
  readLost,
  readOwner,
  retireOwner,
} from "./owners.ts";
import { checkedVersion } from "./schema/migrate.ts";
import { MIGRATIONS } from "./schema/schema.ts";
import { readUsage } from "./usage.ts";

const TRUNCATE_AFTER_MS = 100;

// A process that has the file open ends with the machine; nothing is lost behind its back.
const ONE_HISTORY: LedgerHistory = { id: "file", claimsInMs: 0 };

/** A store on one SQLite connection. Each method is one statement or one transaction. */
export class SqliteStore implements Store {
  readonly gapless: boolean;
  readonly digestKey: Uint8Array;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #queue: CommitQueue;
  readonly #documents = new KnownDocuments();
  #truncation: NodeJS.Timeout | undefined;

  /** The log of a copy of another store's ledger may have gaps. */
  constructor(database: Database, digestKey: Uint8Array, clock: Clock, gapless = true) {
    this.#database = database;
    this.gapless = gapless;
    this.digestKey = digestKey;
    this.#clock = clock;
    this.#changes = new Changes(database);
    this.#queue = new CommitQueue(database, () => this.#changes.announce());
  }

  get now(): number {
    return this.#clock.now();
  }

  load(
    which: { readonly key: string } | { readonly name: SessionName },
  ): Promise<LoadedDocument | undefined> {
    return this.#read((database) =>
      readDocument(database, which, { now: this.now, known: this.#documents, digestKey: this.digestKey }),
    );
  }

  loadAll(keys: readonly string[]): Promise<readonly LoadedDocument[]> {
    return this.#read((database) => readDocuments(database, keys, this.now, this.#documents));
  }

  documents(query: DocumentQuery): Promise<readonly LoadedDocument[]> {
    return this.#read((database) => listDocuments(database, query, this.now));
  }

  async commit(commit: StoreCommit): Promise<CommitOutcome> {
    const ready = readyCommit(commit, this.#documents);
    const outcome = await this.#queue.add({
      sync: commit.sync,
      announce: true,
      run: () => writeCommit(this.#database, ready, this.now),
      hasWritten: ({ ok }) => ok,
    });
    if (outcome.ok && commit.erase === true) this.#truncateSoon();
    return outcome;
  }

  async rename(renaming: SessionRenaming): Promise<boolean> {
    const renamed = await this.#queue.add({
      sync: true,
      announce: false,
      run: () => writeRenaming(this.#database, renaming, this.now),
      hasWritten: (done) => done,
    });
    if (renamed) this.#truncateSoon();
    return renamed;
  }

  async dropLines(sessions: readonly string[]): Promise<void> {
    await this.#database.write(false, () => deleteLines(this.#database, sessions));
  }

  log(query: LogQuery): Promise<readonly LogRow[]> {
    return "at" in query
      ? this.#readTogether(query.at.length, (database) => readLogAt(database, query.at))
      : this.#read((database) => readLog(database, query));
  }

  archive(session: string, n: number): Promise<Archive | undefined> {
    return this.#read((database) => readArchive(database, session, n));
  }

  entries(queries: readonly EntryQuery[]): Promise<readonly (readonly Entry[])[]> {
    return this.#readTogether(queries.length, (database) =>
      queries.map((query) => readEntries(database, query)),
    );
  }

  async lost(queries: readonly LostQuery[], limit: number): Promise<readonly Entry[]> {
    if (await this.#read((database) => hasOverdueOwner(database, this.now))) {
      await this.#database.write(false, () => fenceOverdueOwners(this.#database, this.now));
    }
    return this.#readTogether(queries.length, (database) => readLost(database, queries, limit));
  }

  items(keys: readonly { readonly kind: string; readonly id: string }[]): Promise<readonly StoredItem[]> {
    return this.#readTogether(keys.length, (database) => readItems(database, keys, this.now));
  }

  itemsOf(
    kind: string,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly StoredItem[]> {
    return this.#read((database) => listItems(database, { kind, ...page }, this.now));
  }

  change(change: StoreChange, upon?: readonly ReadLine[]): Promise<boolean> {
    return this.#queue.add({
      sync: true,
      announce: change.announce === true,
      run: () =>
        writeChange(this.#database, change, { now: this.now, ...(upon === undefined ? {} : { upon }) }),
      hasWritten: (changed) => changed,
    });
  }

  takeDue(...[take]: Parameters<Store["takeDue"]>): Promise<readonly StoredItem[]> {
    return this.#queue.add({
      sync: true,
      announce: false,
      run: () => takeDue(this.#database, take, this.now),
      hasWritten: (taken) => taken.length > 0,
    });
  }

  beat(owner: Owner, leaseMs: number): Promise<boolean> {
    return this.#database.write(false, () => {
      // Another process may have brought the file to a schema that this build does not know.
      checkedVersion(this.#database, MIGRATIONS);
      return beatOwner(this.#database, owner, { leaseMs, now: this.now });
    });
  }

  async retire(owner: string): Promise<void> {
    await this.#database.write(false, () => retireOwner(this.#database, owner, this.now));
    this.#changes.announce();
  }

  owner(id: string): Promise<OwnerState | undefined> {
    return this.#read((database) => readOwner(database, id, this.now));
  }

  history(): Promise<LedgerHistory> {
    return Promise.resolve(ONE_HISTORY);
  }

  checkpoints(
    which: { readonly after: number; readonly limit: number } | "last",
  ): Promise<readonly CheckpointRecord[]> {
    return this.#read((database) => readCheckpoints(database, which));
  }

  seal(checkpoint: CheckpointRecord, upon?: Parameters<Store["seal"]>[1]): Promise<boolean> {
    return this.#database.write(false, () => insertCheckpoint(this.#database, checkpoint, upon));
  }

  usage(most: Pick<Usage, "pending" | "sessions">): Promise<Usage> {
    return this.#read((database) => readUsage(database, most));
  }

  pause(): Promise<void> {
    return setImmediate();
  }

  async tidy(): Promise<void> {
    while (await this.#database.write(false, () => dropExpiredItems(this.#database, this.now)))
      await this.pause();
    await this.#database.write(false, () => dropIdleOwners(this.#database, this.now));
    await this.#truncateLog();
  }

  onChange(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  async close(): Promise<void> {
    if (this.#truncation !== undefined) {
      clearTimeout(this.#truncation);
      // A ledger that others have open is not emptied by closing it.
      await this.#truncateLog().catch(() => {});
    }
    this.#database.close();
    this.#changes.close();
  }

  // Soon, not at once: after one session, thousands more may be erased.
  #truncateSoon(): void {
    this.#truncation ??= setTimeout(() => {
      this.#truncation = undefined;
      this.#truncateLog().catch(() => {});
    }, TRUNCATE_AFTER_MS).unref();
  }

  // The next call of `tidy` tries again.
  async #truncateLog(): Promise<void> {
    await this.#database.truncateLog().catch((error: unknown) => {
      if (!CountersignError.isInstance(error) || error.code !== "ledger-busy") throw error;
    });
  }

  #read<T>(body: (database: Database) => T): Promise<T> {
    return this.#database.read(() => body(this.#database));
  }

  /** Several statements that see the same moment. */
  #readTogether<T>(statements: number, body: (database: Database) => T): Promise<T> {
    if (statements <= 1) return this.#read(body);
    return this.#database.readTogether(() => body(this.#database));
  }
}
