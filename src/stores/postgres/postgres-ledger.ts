import type {
  CallRecord,
  ChainHead,
  CheckpointRecord,
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
  LedgerStats,
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
import { listUnknownCalls, readCalls, readSteps, readUnansweredCalls } from "./calls.ts";
import { Changes } from "./changes.ts";
import { listClosed } from "./closed-confirmations.ts";
import { applyCommit } from "./commit.ts";
import type { Database } from "./database.ts";
import { readDue } from "./due.ts";
import { readEvents } from "./events.ts";
import { readLiveFrames, readReadyFrames } from "./frames.ts";
import { insertCheckpoint, readChain, readCheckpoints, readJournal, readLastCheckpoint } from "./journal.ts";
import { LedgerTime } from "./ledger-time.ts";
import { load } from "./load.ts";
import { dropExpiredMemos, recallMemo } from "./memos.ts";
import { listOpen } from "./open-confirmations.ts";
import {
  endAttempt,
  enqueueDeliveries,
  listDead,
  type OutboxDatabase,
  readChannelPlace,
  readDead,
  readNextDeliveryAt,
  reviveDead,
  takeDueDeliveries,
} from "./outbox.ts";
import { beatOwner, dropIdleOwners, readHeld, readOwner, retireOwner, seeHistory } from "./owners.ts";
import { pinValue } from "./pins.ts";
import { SchemaWatch } from "./schema-watch.ts";
import { searchOpen } from "./search.ts";
import { catchUp } from "./search-index.ts";
import { listIdleSessions, listSessions, listStreams } from "./sessions.ts";
import { discardItem, dropExpiredItems, keepItem, listKept, readKept } from "./shelf.ts";
import { readState } from "./states.ts";

// About a second's work at worst; what is left over, the next search or the next tidying does.
const TIDIED_RECORDS = 20_000;

/** What was read when the ledger was opened, and how it is to be used. */
export interface PostgresLedgerParts {
  readonly digestKey: Uint8Array;
  readonly now: number;
  readonly alwaysSync: boolean;
}

/** The ledger on PostgreSQL; each method is one statement, or a few that need no transaction around them. */
export class PostgresLedger implements Ledger {
  readonly digestKey: Uint8Array;
  readonly #database: Database;
  readonly #changes: Changes;
  readonly #schema: SchemaWatch;
  readonly #alwaysSync: boolean;
  readonly #outbox: OutboxDatabase;
  readonly #time: LedgerTime;

  constructor(database: Database, { digestKey, alwaysSync, now }: PostgresLedgerParts) {
    this.#database = database;
    this.digestKey = digestKey;
    this.#alwaysSync = alwaysSync;
    this.#outbox = { database, sync: alwaysSync };
    this.#time = new LedgerTime(now);
    this.#changes = new Changes(database);
    this.#schema = new SchemaWatch(database);
  }

  stats(): LedgerStats {
    return this.#database.stats;
  }

  get now(): number {
    return this.#time.now;
  }

  async load(target: Target): Promise<Snapshot | undefined> {
    const { now, snapshot } = await load(this.#database, target);
    this.#time.observe(now);
    return snapshot;
  }

  async commit(commit: Commit): Promise<CommitOutcome> {
    const outcome = await applyCommit(this.#database, commit, { sync: commit.sync || this.#alwaysSync });
    if (outcome.ok) this.#changes.announce();
    return outcome;
  }

  calls(ids: readonly string[]): Promise<readonly CallRecord[]> {
    return readCalls(this.#database, ids);
  }

  unanswered(session: string): Promise<readonly CallRecord[]> {
    return readUnansweredCalls(this.#database, session);
  }

  steps(call: string): Promise<readonly StepRecord[]> {
    return readSteps(this.#database, call);
  }

  events(session: string, range: EventRange = {}): Promise<readonly StoredEvent[]> {
    return readEvents(this.#database, session, range);
  }

  state(session: string): Promise<JsonObject> {
    return readState(this.#database, session);
  }

  sessions(
    owner: { readonly app: string; readonly user?: string },
    page?: PageRequest,
  ): Promise<Page<SessionRecord>> {
    return listSessions(this.#database, owner, page);
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
    return listUnknownCalls(this.#database, page);
  }

  recall(memo: Pick<Memo, "principal" | "route" | "key">): Promise<Memo | undefined> {
    return recallMemo(this.#database, memo);
  }

  async beat(owner: Owner, leaseMs: number): Promise<boolean> {
    await this.#schema.lookIfDue();
    return beatOwner(this.#database, owner, leaseMs);
  }

  history(leaseMs: number): Promise<LedgerHistory> {
    return seeHistory(this.#database, leaseMs);
  }

  async retire(owner: string): Promise<void> {
    await retireOwner(this.#database, owner);
    this.#changes.announce();
  }

  owner(id: string): Promise<OwnerState | undefined> {
    return readOwner(this.#database, id);
  }

  held(owner: string): Promise<HeldWork> {
    return readHeld(this.#database, owner);
  }

  async due(hosted: readonly HostedApp[], limit: number): Promise<DueWork> {
    await this.#schema.lookIfDue();
    return readDue(this.#database, hosted, limit);
  }

  liveFrames(session: string): Promise<readonly FrameRecord[]> {
    return readLiveFrames(this.#database, session);
  }

  readyFrames(session: string): Promise<readonly string[]> {
    return readReadyFrames(this.#database, session);
  }

  journal(range: JournalRange & { readonly until?: number }): Promise<readonly JournalRecord[]> {
    return readJournal(this.#database, range);
  }

  chain(stream: string, range: JournalRange): Promise<readonly JournalRecord[]> {
    return readChain(this.#database, stream, range);
  }

  streams(
    after: string,
    limit: number,
  ): Promise<readonly { readonly key: string; readonly chain: ChainHead }[]> {
    return listStreams(this.#database, after, limit);
  }

  checkpoints(after: number, limit: number): Promise<readonly CheckpointRecord[]> {
    return readCheckpoints(this.#database, after, limit);
  }

  lastCheckpoint(): Promise<CheckpointRecord | undefined> {
    return readLastCheckpoint(this.#database);
  }

  seal(checkpoint: CheckpointRecord, upon?: SealedUpon): Promise<boolean> {
    return insertCheckpoint(this.#database, checkpoint, upon);
  }

  idleSessions(before: number, limit: number): Promise<readonly string[]> {
    return listIdleSessions(this.#database, before, limit);
  }

  pin(name: string, value: string): Promise<string> {
    return pinValue(this.#database, name, value);
  }

  item(kind: string, id: string): Promise<StoredItem | undefined> {
    return readKept(this.#database, { kind, id });
  }

  items(kind: string, request?: PageRequest): Promise<Page<StoredItem>> {
    return listKept(this.#database, kind, request);
  }

  putItem(item: Omit<StoredItem, "version">, read: number): Promise<boolean> {
    return keepItem(this.#database, item, read);
  }

  removeItem(item: Pick<StoredItem, "kind" | "id" | "version">): Promise<boolean> {
    return discardItem(this.#database, item);
  }

  channelPlace(channel: string): Promise<number> {
    return readChannelPlace(this.#database, channel);
  }

  enqueue(batch: Parameters<Outbox["enqueue"]>[0]): Promise<boolean> {
    return enqueueDeliveries(this.#outbox, batch);
  }

  takeDeliveries(
    channel: string,
    take: { readonly limit: number; readonly holdMs: number },
  ): Promise<readonly Delivery[]> {
    return takeDueDeliveries(this.#outbox, channel, take);
  }

  endDelivery(attempt: Parameters<Outbox["endDelivery"]>[0], end: DeliveryEnd): Promise<boolean> {
    return endAttempt(this.#outbox, attempt, end);
  }

  nextDeliveryAt(channel: string): Promise<number | undefined> {
    return readNextDeliveryAt(this.#database, channel);
  }

  deadDeliveries(page?: PageRequest): Promise<Page<Delivery>> {
    return listDead(this.#database, page);
  }

  deadDelivery(channel: string, seq: number): Promise<Delivery | undefined> {
    return readDead(this.#database, channel, seq);
  }

  async reviveDelivery(channel: string, seq: number): Promise<boolean> {
    const revived = await reviveDead(this.#database, channel, seq);
    if (revived) this.#changes.announce();
    return revived;
  }

  async tidy(): Promise<void> {
    await dropExpiredMemos(this.#database);
    await dropExpiredItems(this.#database);
    await dropIdleOwners(this.#database);
    await catchUp(this.#database, TIDIED_RECORDS);
  }

  onChange(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  /** Whatever this handle has committed, the other processes have been told of when this resolves. */
  async close(): Promise<void> {
    await this.#changes.close();
    await this.#database.close();
    this.#changes.wakeAll();
  }
}
