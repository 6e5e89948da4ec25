import type { JsonObject, StoredEvent } from "../../protocol/index.ts";
import { copyJson, sessionOf, TransientMap } from "../common/index.ts";
import type { HostedApp } from "../host.ts";
import type { Journal, Outbox } from "../journal/index.ts";
import type {
  CallRecord,
  Commit,
  CommitOutcome,
  ConfirmationFilter,
  ConfirmationWithCall,
  DuePlace,
  DueWork,
  EventRange,
  FrameRecord,
  GrantsRequest,
  GrantWithSession,
  KeyValueStore,
  Ledger,
  ListRequest,
  Owners,
  Page,
  PageRequest,
  SessionFilter,
  SessionRecord,
  Snapshot,
  StepRecord,
  Target,
  UnknownCallsRequest,
} from "../ledger/index.ts";
import { isAnswered, isFrameOver } from "../lifecycle/index.ts";
import type { Usage } from "../questions/index.ts";
import { applyCommit } from "./apply-commit.ts";
import { DocumentCache } from "./document-cache.ts";
import { anonymiseSession } from "./erasing/anonymise.ts";
import { burySession } from "./erasing/bury.ts";
import { StoredItems } from "./items.ts";
import { StoredJournal } from "./journal.ts";
import { listConfirmations } from "./lists/list-confirmations.ts";
import { listGrants } from "./lists/list-grants.ts";
import { listSessions } from "./lists/list-sessions.ts";
import { listUnknownCalls } from "./lists/unknown-calls.ts";
import { WordIndex } from "./lists/word-index.ts";
import { StoredOutbox } from "./outbox.ts";
import { StoredOwners } from "./owners.ts";
import { SessionRows } from "./rows.ts";
import { readEvents, readFirstEvents } from "./session-events.ts";
import { namedCall, snapshotOf, toSession, toSnapshot } from "./snapshot.ts";
import { stateKeys, toState, wantedState } from "./state-items.ts";
import type { LoadedDocument, Store } from "./store.ts";
import { readDue } from "./work.ts";

/** What the documents may take that are kept in this process. */
const CACHED_BYTES = 800_000;

/** The ledger over a store of documents. */
export class DocumentLedger implements Ledger {
  readonly #store: Store;
  readonly #cache = new DocumentCache(CACHED_BYTES);
  /** Reads of sessions' state that have not begun. */
  readonly #stateReads = new TransientMap<string, Promise<JsonObject>>();
  readonly items: KeyValueStore;
  readonly owners: Owners;
  readonly journal: Journal;
  readonly outbox: Outbox;
  readonly #words: WordIndex;

  constructor(store: Store) {
    this.#store = store;
    this.items = new StoredItems(store);
    this.owners = new StoredOwners(store);
    this.journal = new StoredJournal(store);
    this.outbox = new StoredOutbox(store, this.journal);
    this.#words = new WordIndex(store);
  }

  get volatile(): boolean {
    return this.#store.volatile === true;
  }

  get digestKey(): Uint8Array {
    return this.#store.digestKey;
  }

  get now(): number {
    return this.#store.now;
  }

  async load(target: Target): Promise<Snapshot | undefined> {
    const loaded = await this.#document(whereOf(target));
    return loaded && (snapshotOf(target, loaded) ?? this.#snapshotFromLog(target, loaded));
  }

  async loadAll(...[targets]: Parameters<Ledger["loadAll"]>): ReturnType<Ledger["loadAll"]> {
    const keyOf = (target: (typeof targets)[number]): string =>
      sessionOf("call" in target ? target.call : target.confirmation);
    const loaded = await this.#store.loadAll([...new Set(targets.map(keyOf))]);
    const documents = new Map(loaded.map((one) => [one.key, one]));
    return Promise.all(
      targets.map(async (target) => {
        const document = documents.get(keyOf(target));
        return document && (snapshotOf(target, document) ?? this.#snapshotFromLog(target, document));
      }),
    );
  }

  async #snapshotFromLog(target: Target, loaded: LoadedDocument): Promise<Snapshot | undefined> {
    const { now, key, document } = loaded;
    const session = toSession(loaded);
    const rows = new SessionRows(this.#store, key, document);
    if ("frame" in target) {
      const only = await rows.frame(target.frame);
      return only && { now, session, frame: only };
    }
    const asked = "confirmation" in target ? await rows.confirmation(target.confirmation) : undefined;
    const named = namedCall(target, key);
    const callId = "call" in target ? target.call : (named ?? asked?.call);
    if (callId === undefined) return undefined;
    // One of another session only where somebody was at the database: whoever judges it must see that.
    const call = sessionOf(callId) === key ? await rows.call(callId) : (await this.calls([callId]))[0];
    if (call === undefined) return named === undefined ? undefined : { now, session };
    const confirmation = asked ?? (await rows.confirmation(call.confirmation));
    return toSnapshot({ now, session, call, confirmation, frame: await rows.frame(call.frame) });
  }

  async commit(commit: Commit): Promise<CommitOutcome> {
    const { session, log, owner, sync } = commit;
    const { key, version } = session;
    const known =
      version === 0 ? undefined : (this.#cache.at(key, version) ?? (await this.#document({ key })));
    if (version > 0 && known?.version !== version) return { ok: false, conflict: "version" };
    const changed = applyCommit(known?.document, commit);
    if ("ok" in changed) return this.#refused(commit, changed);
    const changedAt = known && erasedAsRead(known.document);
    const wants = wantedState(commit, changed.document.head);
    const outcome = await this.#store.commit({ ...changed, ...session, changedAt, log, owner, sync, wants });
    if (outcome.ok) this.#cache.set(key, { version: version + 1, document: changed.document });
    else this.#cache.drop(key);
    // What was erased must not be found by its words. If this fails, tidying does it.
    if (outcome.ok && changed.erase === true) await this.#words.update().catch(() => {});
    return outcome;
  }

  /** A guard means something only for the session as it is: what this process knows of it may be behind. */
  async #refused({ session: { key, version } }: Commit, refused: CommitOutcome): Promise<CommitOutcome> {
    const loaded = await this.#document({ key });
    return loaded?.version === version || version === 0 ? refused : { ok: false, conflict: "version" };
  }

  async calls(ids: readonly string[]): Promise<readonly CallRecord[]> {
    const loaded = await this.#store.loadAll([...new Set(ids.map(sessionOf))]);
    const rows = new Map(
      loaded.map(({ key, document }) => [key, new SessionRows(this.#store, key, document)]),
    );
    const calls = await Promise.all(ids.map(async (id) => rows.get(sessionOf(id))?.call(id)));
    return calls.filter((call) => call !== undefined);
  }

  async unanswered(session: string): Promise<readonly CallRecord[]> {
    const loaded = await this.#document({ key: session });
    if (loaded === undefined) return [];
    const rows = new SessionRows(this.#store, session, loaded.document);
    const open = loaded.document.calls.filter(({ status }) => !isAnswered(status));
    return Promise.all(open.map((call) => rows.whole<CallRecord>(call, call.id)));
  }

  async steps(call: string): Promise<readonly StepRecord[]> {
    const loaded = await this.#document({ key: sessionOf(call) });
    if (loaded === undefined) return [];
    return new SessionRows(this.#store, loaded.key, loaded.document).steps(call);
  }

  async events(session: string, range: EventRange = {}): Promise<readonly StoredEvent[]> {
    const { after = 0, last } = range;
    if (after === 0 && last === undefined) return readFirstEvents(this.#store, session, range);
    const loaded = await this.#document({ key: session });
    return loaded === undefined ? [] : readEvents(this.#store, loaded, range);
  }

  async state(session: string): Promise<JsonObject> {
    // The calls of a turn start together: those who ask at the same moment are answered by one read.
    const read = this.#stateReads.get(session) ?? this.#readStateSoon(session);
    return copyJson(await read);
  }

  #readStateSoon(session: string): Promise<JsonObject> {
    const read = Promise.resolve().then(() => {
      this.#stateReads.delete(session);
      return this.#readState(session);
    });
    this.#stateReads.set(session, read);
    return read;
  }

  async #readState(session: string): Promise<JsonObject> {
    // A session keeps its name, so that what is known of it will do.
    const loaded = this.#cache.get(session) ?? (await this.#document({ key: session }));
    if (loaded === undefined) return {};
    return toState(await this.#store.items(stateKeys(session, loaded.document.head)));
  }

  sessions(which: SessionFilter, page?: PageRequest): Promise<Page<SessionRecord>> {
    return listSessions(this.#store, which, page);
  }

  confirmations(filter: ConfirmationFilter, page?: ListRequest): Promise<Page<ConfirmationWithCall>> {
    return listConfirmations({ store: this.#store, index: this.#words }, filter, page);
  }

  unknownCalls(page: UnknownCallsRequest = {}): Promise<Page<CallRecord & { readonly truncated?: true }>> {
    return listUnknownCalls(this.#store, page);
  }

  grants(request?: GrantsRequest): Promise<Page<GrantWithSession>> {
    return listGrants(this.#store, request);
  }

  due(hosted: readonly HostedApp[], limit: number, after?: DuePlace): Promise<DueWork> {
    return readDue(this.#store, hosted, { limit, after });
  }

  async liveFrames(session: string): Promise<readonly FrameRecord[]> {
    const loaded = await this.#document({ key: session });
    if (loaded === undefined) return [];
    const rows = new SessionRows(this.#store, session, loaded.document);
    const live = loaded.document.frames.filter(({ status }) => !isFrameOver(status));
    return Promise.all(live.map((frame) => rows.whole<FrameRecord>(frame, frame.id)));
  }

  usage(most: Pick<Usage, "pending" | "sessions">): Promise<Usage> {
    return this.#store.usage(most);
  }

  async anonymise(...[session, names, judge]: Parameters<Ledger["anonymise"]>): Promise<boolean> {
    this.#cache.drop(session);
    return anonymiseSession(this.#store, session, { names, judge });
  }

  async bury(...[session, pruned, judge]: Parameters<Ledger["bury"]>): Promise<boolean> {
    this.#cache.drop(session.key);
    return burySession(this.#store, session, { pruned, judge });
  }

  async tidy(): Promise<void> {
    await this.#store.tidy();
    await this.#words.update();
  }

  onChange(listener: () => void): () => void {
    return this.#store.onChange(listener);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #document(which: Parameters<Store["load"]>[0]): Promise<LoadedDocument | undefined> {
    const loaded = await this.#store.load(which);
    if (loaded !== undefined) this.#cache.set(loaded.key, loaded);
    return loaded;
  }
}

/** When an erased session was changed last; undefined for any other. */
function erasedAsRead({ head }: LoadedDocument["document"]): number | undefined {
  return head.deletedAt === undefined ? undefined : head.updatedAt;
}

function whereOf(target: Target): Parameters<Store["load"]>[0] {
  if ("session" in target) return { name: target.session };
  if ("sessionKey" in target) return { key: target.sessionKey };
  if ("frame" in target) return { key: sessionOf(target.frame) };
  return { key: sessionOf("call" in target ? target.call : target.confirmation) };
}
