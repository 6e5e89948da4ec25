import type {
  Archive,
  CheckpointRecord,
  CommitOutcome,
  DocumentQuery,
  Entry,
  EntryQuery,
  ItemKey,
  LedgerHistory,
  LedgerStats,
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
import { Changes } from "./changes.ts";
import { applyChange, CommitQueue, renameSession, takeDue, WantedItems } from "./commits/index.ts";
import type { Database } from "./connection/index.ts";
import { listDocuments, readDocument, readDocuments } from "./documents.ts";
import { readEntries, readLost } from "./entries.ts";
import { dropExpiredItems, listItems, readItems } from "./items.ts";
import { LedgerTime } from "./ledger-time.ts";
import { deleteLines, insertCheckpoint, readArchive, readCheckpoints, readLog, readLogAt } from "./log.ts";
import {
  beatOwner,
  dropIdleOwners,
  fenceOverdueOwners,
  readOwner,
  retireOwner,
  seeHistory,
} from "./owners.ts";
import { SchemaWatch } from "./schema/index.ts";
import type { OpenStandbys } from "./standby/index.ts";
import { readUsage } from "./usage.ts";

/** What was read when the store was opened, and how it is to be used. */
export interface PostgresStoreParts {
  readonly digestKey: Uint8Array;
  readonly now: number;
  readonly alwaysSync: boolean;
  /** Where changes of other processes are heard of, if not through the database itself. */
  readonly listening?: Database;
  /** Where lists may be read. */
  readonly standbys?: OpenStandbys;
}

/** A store on PostgreSQL; each method is one statement, or a few that need no transaction around them. */
export class PostgresStore implements Store {
  /** A commit that fails leaves its position free. */
  readonly gapless = false;
  readonly digestKey: Uint8Array;
  readonly standbys: OpenStandbys | undefined;
  readonly #database: Database;
  readonly #listening: Database | undefined;
  readonly #changes: Changes;
  readonly #schema: SchemaWatch;
  readonly #queue: CommitQueue;
  readonly #time: LedgerTime;
  readonly #wanted = new WantedItems();

  constructor(database: Database, { digestKey, alwaysSync, now, listening, standbys }: PostgresStoreParts) {
    this.#database = database;
    this.digestKey = digestKey;
    this.standbys = standbys;
    this.#time = new LedgerTime(now);
    this.#changes = new Changes(database, listening);
    this.#listening = listening;
    this.#schema = new SchemaWatch(database);
    const written = (): void => this.#changes.announce();
    this.#queue = new CommitQueue(database, { alwaysSync, wanted: this.#wanted, written });
  }

  get now(): number {
    return this.#time.now;
  }

  get stats(): LedgerStats {
    return this.#database.stats;
  }

  async load(
    which: { readonly key: string } | { readonly name: SessionName },
  ): Promise<LoadedDocument | undefined> {
    const { now, found } = await readDocument(this.#database, which, this.digestKey);
    this.#time.observe(now);
    return found;
  }

  loadAll(keys: readonly string[]): Promise<readonly LoadedDocument[]> {
    return readDocuments(this.#database, keys);
  }

  documents(query: DocumentQuery): Promise<readonly LoadedDocument[]> {
    return listDocuments(this.#database, query);
  }

  commit(commit: StoreCommit): Promise<CommitOutcome> {
    return this.#queue.add(commit);
  }

  rename(renaming: SessionRenaming): Promise<boolean> {
    return renameSession(this.#database, renaming);
  }

  dropLines(sessions: readonly string[]): Promise<void> {
    return deleteLines(this.#database, sessions);
  }

  log(query: LogQuery): Promise<readonly LogRow[]> {
    return "at" in query ? readLogAt(this.#database, query.at) : readLog(this.#database, query);
  }

  archive(session: string, n: number): Promise<Archive | undefined> {
    return readArchive(this.#database, session, n);
  }

  async entries(queries: readonly EntryQuery[]): Promise<readonly (readonly Entry[])[]> {
    const { now, pages } = await readEntries(this.#database, queries);
    this.#time.observe(now);
    return pages;
  }

  async lost(queries: readonly LostQuery[], limit: number): Promise<readonly Entry[]> {
    await this.#schema.lookIfDue();
    let found = await readLost(this.#database, queries, limit);
    if (found.isOverdue) {
      await fenceOverdueOwners(this.#database);
      found = await readLost(this.#database, queries, limit);
    }
    this.#time.observe(found.now);
    return found.lost;
  }

  async items(keys: readonly ItemKey[]): Promise<readonly StoredItem[]> {
    const wanted = this.#wanted.find(keys);
    if (wanted !== undefined) return wanted;
    const { now, found } = await readItems(this.#database, keys);
    this.#time.observe(now);
    return found;
  }

  itemsOf(
    kind: string,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly StoredItem[]> {
    return listItems(this.#database, kind, page);
  }

  async change(change: StoreChange, upon: readonly ReadLine[] = []): Promise<boolean> {
    const isChanged = await applyChange(this.#database, change, upon).finally(() => this.#wanted.written());
    if (isChanged && change.announce === true) this.#changes.announce();
    return isChanged;
  }

  async takeDue(...[take]: Parameters<Store["takeDue"]>): Promise<readonly StoredItem[]> {
    const { now, taken } = await takeDue(this.#database, take).finally(() => this.#wanted.written());
    this.#time.observe(now);
    return taken;
  }

  async beat(owner: Owner, leaseMs: number): Promise<boolean> {
    await this.#schema.lookIfDue();
    return beatOwner(this.#database, owner, leaseMs);
  }

  async retire(owner: string): Promise<void> {
    await retireOwner(this.#database, owner);
    this.#changes.announce();
  }

  owner(id: string): Promise<OwnerState | undefined> {
    return readOwner(this.#database, id);
  }

  history(leaseMs: number): Promise<LedgerHistory> {
    return seeHistory(this.#database, leaseMs);
  }

  checkpoints(
    which: { readonly after: number; readonly limit: number } | "last",
  ): Promise<readonly CheckpointRecord[]> {
    return readCheckpoints(this.#database, which);
  }

  seal(checkpoint: CheckpointRecord, upon?: Parameters<Store["seal"]>[1]): Promise<boolean> {
    return insertCheckpoint(this.#database, checkpoint, upon);
  }

  usage(most: Pick<Usage, "pending" | "sessions">): Promise<Usage> {
    return readUsage(this.#database, most);
  }

  /** Every answer of the server has let others have their turn. */
  pause(): Promise<void> {
    return Promise.resolve();
  }

  async tidy(): Promise<void> {
    await dropExpiredItems(this.#database);
    await dropIdleOwners(this.#database);
  }

  onChange(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  /** When this resolves, the other processes have been notified of all commits of this handle. */
  async close(): Promise<void> {
    await this.#changes.close();
    await Promise.all([this.#database.close(), this.#listening?.close(), this.standbys?.close()]);
    this.#changes.wakeAll();
  }
}
