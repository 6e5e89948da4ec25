import type {
  CallRecord,
  ChainHead,
  CheckpointRecord,
  Clock,
  Commit,
  CommitOutcome,
  ConfirmationFilter,
  ConfirmationWithCall,
  Delivery,
  DeliveryEnd,
  DueWork,
  EventRange,
  FrameRecord,
  HeldWork,
  HostedApp,
  JournalRange,
  JournalRecord,
  Ledger,
  LedgerHistory,
  ListRequest,
  Memo,
  Outbox,
  Owner,
  OwnerState,
  Page,
  PageRequest,
  SealedUpon,
  SessionRecord,
  Snapshot,
  StepRecord,
  StoredItem,
  Target,
  UnknownCallsRequest,
} from "../../engine/index.ts";
import { CountersignError, type JsonObject, type StoredEvent } from "../../protocol/index.ts";
import { applyCommit } from "./apply-writes.ts";
import { listUnknownCalls, readCalls, readSteps, readUnansweredCalls } from "./calls.ts";
import { Changes } from "./changes.ts";
import { listClosed } from "./closed-confirmations.ts";
import type { Database } from "./database.ts";
import { readDue } from "./due.ts";
import { readEvents } from "./events.ts";
import { readLiveFrames, readReadyFrames } from "./frames.ts";
import { insertCheckpoint, readChain, readCheckpoints, readJournal, readLastCheckpoint } from "./journal.ts";
import { load } from "./load.ts";
import { dropExpiredMemos, recallMemo } from "./memos.ts";
import { checkedVersion } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { listOpen } from "./open-confirmations.ts";
import {
  endAttempt,
  enqueueDeliveries,
  hasDueDelivery,
  listDead,
  openChannel,
  readChannelPlace,
  readDead,
  readNextDeliveryAt,
  reviveDead,
  takeDueDeliveries,
} from "./outbox.ts";
import {
  beatOwner,
  dropIdleOwners,
  fenceOverdueOwners,
  hasOverdueOwner,
  readHeld,
  readOwner,
  retireOwner,
} from "./owners.ts";
import { pinValue } from "./pins.ts";
import { searchOpen } from "./search.ts";
import { catchUp } from "./search-index.ts";
import { listIdleSessions, listSessions, listStreams } from "./sessions.ts";
import { discardItem, dropExpiredItems, keepItem, listKept, readKept } from "./shelf.ts";
import { readState } from "./states.ts";

// About a second's work at worst; what is left over, the next search or the next tidying does.
const TIDIED_RECORDS = 20_000;
const TRUNCATE_AFTER_MS = 100;

// A process that has the file open ends with the machine; nothing is lost behind its back.
const ONE_HISTORY: LedgerHistory = { id: "file", claimsInMs: 0 };

/** The ledger on one SQLite connection; each method is one statement or one transaction. */
export class SqliteLedger implements Ledger {
  readonly gapless = true;
  readonly digestKey: Uint8Array;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #changes: Changes;
  #truncation: NodeJS.Timeout | undefined;

  constructor(database: Database, digestKey: Uint8Array, clock: Clock) {
    this.#database = database;
    this.digestKey = digestKey;
    this.#clock = clock;
    this.#changes = new Changes(database);
  }

  get now(): number {
    return this.#clock.now();
  }

  load(target: Target): Promise<Snapshot | undefined> {
    return this.#read((database) => load(database, target, this.#clock.now()));
  }

  async commit(commit: Commit): Promise<CommitOutcome> {
    const outcome = await this.#database.write(
      commit.sync,
      () => applyCommit(this.#database, commit, this.#clock.now()),
      ({ ok }) => ok,
    );
    if (outcome.ok) {
      this.#changes.announce();
      if (commit.writes.some(({ kind }) => kind === "erase")) this.#truncateSoon();
    }
    return outcome;
  }

  calls(ids: readonly string[]): Promise<readonly CallRecord[]> {
    return this.#read((database) => readCalls(database, ids));
  }

  unanswered(session: string): Promise<readonly CallRecord[]> {
    return this.#read((database) => readUnansweredCalls(database, session));
  }

  steps(call: string): Promise<readonly StepRecord[]> {
    return this.#read((database) => readSteps(database, call));
  }

  events(session: string, range: EventRange = {}): Promise<readonly StoredEvent[]> {
    return this.#read((database) => readEvents(database, session, range));
  }

  state(session: string): Promise<JsonObject> {
    return this.#read((database) => readState(database, session));
  }

  sessions(
    owner: { readonly app: string; readonly user?: string },
    page?: PageRequest,
  ): Promise<Page<SessionRecord>> {
    return this.#read((database) => listSessions(database, owner, page));
  }

  async confirmations(filter: ConfirmationFilter, page?: ListRequest): Promise<Page<ConfirmationWithCall>> {
    const { words } = filter;
    if (filter.state === "closed") {
      if (words === undefined) return listClosed(this.#database, filter, page);
      throw new CountersignError("malformed-request", "Only open confirmations can be searched for words.", {
        details: { field: "words" },
      });
    }
    return words === undefined
      ? listOpen(this.#database, filter, page)
      : searchOpen(this.#database, { ...filter, words }, page);
  }

  unknownCalls(page?: UnknownCallsRequest): Promise<Page<CallRecord>> {
    return this.#read((database) => listUnknownCalls(database, page));
  }

  recall(memo: Pick<Memo, "principal" | "route" | "key">): Promise<Memo | undefined> {
    return this.#read((database) => recallMemo(database, memo, this.#clock.now()));
  }

  beat(owner: Owner, leaseMs: number): Promise<boolean> {
    return this.#database.write(false, () => {
      // Another process may have brought the file to a schema that this build does not know.
      checkedVersion(this.#database, MIGRATIONS);
      const now = this.#clock.now();
      return beatOwner(this.#database, owner, now + leaseMs, now);
    });
  }

  history(): Promise<LedgerHistory> {
    return Promise.resolve(ONE_HISTORY);
  }

  async retire(owner: string): Promise<void> {
    await this.#database.write(false, () => retireOwner(this.#database, owner, this.#clock.now()));
    this.#changes.announce();
  }

  owner(id: string): Promise<OwnerState | undefined> {
    return this.#read((database) => readOwner(database, id, this.#clock.now()));
  }

  held(owner: string): Promise<HeldWork> {
    return this.#read((database) => readHeld(database, owner));
  }

  async due(hosted: readonly HostedApp[], limit: number): Promise<DueWork> {
    if (await this.#read((database) => hasOverdueOwner(database, this.#clock.now()))) {
      await this.#database.write(false, () => fenceOverdueOwners(this.#database, this.#clock.now()));
    }
    return this.#read((database) => readDue(database, hosted, { limit, now: this.#clock.now() }));
  }

  liveFrames(session: string): Promise<readonly FrameRecord[]> {
    return this.#read((database) => readLiveFrames(database, session));
  }

  readyFrames(session: string): Promise<readonly string[]> {
    return this.#read((database) => readReadyFrames(database, session));
  }

  journal(range: JournalRange & { readonly until?: number }): Promise<readonly JournalRecord[]> {
    return this.#read((database) => readJournal(database, range));
  }

  chain(stream: string, range: JournalRange): Promise<readonly JournalRecord[]> {
    return this.#read((database) => readChain(database, stream, range));
  }

  streams(
    after: string,
    limit: number,
  ): Promise<readonly { readonly key: string; readonly chain: ChainHead }[]> {
    return this.#read((database) => listStreams(database, after, limit));
  }

  checkpoints(after: number, limit: number): Promise<readonly CheckpointRecord[]> {
    return this.#read((database) => readCheckpoints(database, after, limit));
  }

  lastCheckpoint(): Promise<CheckpointRecord | undefined> {
    return this.#read(readLastCheckpoint);
  }

  seal(checkpoint: CheckpointRecord, upon?: SealedUpon): Promise<boolean> {
    return this.#database.write(false, () => insertCheckpoint(this.#database, checkpoint, upon));
  }

  idleSessions(before: number, limit: number): Promise<readonly string[]> {
    return this.#read((database) => listIdleSessions(database, before, limit));
  }

  pin(name: string, value: string): Promise<string> {
    return this.#database.write(true, () => pinValue(this.#database, name, value));
  }

  item(kind: string, id: string): Promise<StoredItem | undefined> {
    return this.#read((database) => readKept(database, { kind, id }, this.#clock.now()));
  }

  items(kind: string, request?: PageRequest): Promise<Page<StoredItem>> {
    return this.#read((database) => listKept(database, { kind, request }, this.#clock.now()));
  }

  putItem(item: Omit<StoredItem, "version">, read: number): Promise<boolean> {
    return this.#database.write(true, () => keepItem(this.#database, { item, read }, this.#clock.now()));
  }

  removeItem(item: Pick<StoredItem, "kind" | "id" | "version">): Promise<boolean> {
    return this.#database.write(true, () => discardItem(this.#database, item, this.#clock.now()));
  }

  async channelPlace(channel: string): Promise<number> {
    const known = await this.#read((database) => readChannelPlace(database, channel));
    return known ?? this.#database.write(false, () => openChannel(this.#database, channel));
  }

  enqueue(batch: Parameters<Outbox["enqueue"]>[0]): Promise<boolean> {
    return this.#database.write(false, () => enqueueDeliveries(this.#database, batch, this.#clock.now()));
  }

  async takeDeliveries(
    channel: string,
    take: { readonly limit: number; readonly holdMs: number },
  ): Promise<readonly Delivery[]> {
    if (!(await this.#read((database) => hasDueDelivery(database, channel, this.#clock.now())))) return [];
    return this.#database.write(false, () =>
      takeDueDeliveries(this.#database, { channel, ...take }, this.#clock.now()),
    );
  }

  endDelivery(attempt: Parameters<Outbox["endDelivery"]>[0], end: DeliveryEnd): Promise<boolean> {
    return this.#database.write(false, () =>
      endAttempt(this.#database, attempt, { end, now: this.#clock.now() }),
    );
  }

  nextDeliveryAt(channel: string): Promise<number | undefined> {
    return this.#read((database) => readNextDeliveryAt(database, channel));
  }

  deadDeliveries(page?: PageRequest): Promise<Page<Delivery>> {
    return this.#read((database) => listDead(database, page));
  }

  deadDelivery(channel: string, seq: number): Promise<Delivery | undefined> {
    return this.#read((database) => readDead(database, channel, seq));
  }

  async reviveDelivery(channel: string, seq: number): Promise<boolean> {
    const revived = await this.#database.write(false, () =>
      reviveDead(this.#database, { channel, seq }, this.#clock.now()),
    );
    if (revived) this.#changes.announce();
    return revived;
  }

  async tidy(): Promise<void> {
    await this.#database.write(false, () => {
      const now = this.#clock.now();
      dropExpiredMemos(this.#database, now);
      dropExpiredItems(this.#database, now);
      dropIdleOwners(this.#database, now);
    });
    await catchUp(this.#database, TIDIED_RECORDS);
    await this.#truncateLog();
  }

  onChange(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  async close(): Promise<void> {
    clearTimeout(this.#truncation);
    this.#database.close();
    this.#changes.close();
  }

  // Soon, not at once: whoever erases one session may be about to erase thousands.
  #truncateSoon(): void {
    this.#truncation ??= setTimeout(() => {
      this.#truncation = undefined;
      this.#truncateLog().catch(() => {});
    }, TRUNCATE_AFTER_MS).unref();
  }

  // Whoever tidies next tries again.
  async #truncateLog(): Promise<void> {
    await this.#database.truncateLog().catch((error: unknown) => {
      if (!CountersignError.isInstance(error) || error.code !== "ledger-busy") throw error;
    });
  }

  #read<T>(body: (database: Database) => T): Promise<T> {
    return this.#database.read(() => body(this.#database));
  }
}
