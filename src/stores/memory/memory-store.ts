import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  type Archive,
  type CheckpointRecord,
  type Clock,
  type CommitOutcome,
  type DocumentQuery,
  type Entry,
  type EntryQuery,
  erasedUser,
  type LedgerHistory,
  type LoadedDocument,
  type LogQuery,
  type LogRow,
  type LostQuery,
  type Owner,
  type OwnerState,
  type ReadLine,
  type SealedUpon,
  type SessionName,
  type SessionRenaming,
  type Store,
  type StoreChange,
  type StoreCommit,
  type StoredItem,
  SUSPENSION,
  takeItems,
  type Usage,
} from "../../engine/index.ts";
import { CountersignError, isJsonObject } from "../../protocol/index.ts";
import { Cold } from "./cold.ts";
import { Documents, type Kept } from "./documents.ts";
import { Entries } from "./entries.ts";
import { Items } from "./items.ts";
import { Listeners } from "./listeners.ts";
import { Log } from "./log.ts";
import { Owners } from "./owners.ts";

/** About how many bytes of documents, of log rows, of entries and of items are held on the heap. */
const MOST_HOT = 128 * 1_024;

/**
 * A store that ends with the process. What was used last is in plain structures; what was not is moved to a database
 * in memory, off the heap. Everything is one step of the event loop, so nothing is ever half done.
 */
export class MemoryStore implements Store {
  readonly gapless = true;
  readonly volatile = true;
  readonly digestKey: Uint8Array = randomBytes(32);
  readonly #clock: Clock;
  readonly #cold = new Cold();
  readonly #documents: Documents;
  readonly #log: Log;
  readonly #entries: Entries;
  readonly #items: Items;
  readonly #owners = new Owners();
  readonly #checkpoints: CheckpointRecord[] = [];
  readonly #listeners = new Listeners();
  #someAreRenamed = false;
  #closed = false;

  constructor(clock: Clock, mostHot: number = MOST_HOT) {
    this.#clock = clock;
    this.#documents = new Documents(this.#cold, mostHot);
    this.#log = new Log(this.#cold, mostHot);
    this.#entries = new Entries(this.#cold, mostHot);
    this.#items = new Items(this.#cold, mostHot);
  }

  get now(): number {
    return this.#clock.now();
  }

  async load(
    which: { readonly key: string } | { readonly name: SessionName },
  ): Promise<LoadedDocument | undefined> {
    this.#check();
    if ("key" in which) return this.#loaded(this.#documents.byKey(which.key));
    const { name } = which;
    const renamed = this.#someAreRenamed ? this.#documents.byName(this.#erased(name)) : undefined;
    // Asked last: a caller that finds nothing is about to create one with this name.
    return this.#loaded(this.#documents.byName(name) ?? renamed);
  }

  async loadAll(keys: readonly string[]): Promise<readonly LoadedDocument[]> {
    this.#check();
    return keys.flatMap((key) => this.#loaded(this.#documents.byKey(key)) ?? []);
  }

  async documents(query: DocumentQuery): Promise<readonly LoadedDocument[]> {
    this.#check();
    return this.#documents.page(query).flatMap((kept) => this.#loaded(kept) ?? []);
  }

  async commit(commit: StoreCommit): Promise<CommitOutcome> {
    this.#check();
    const conflict = this.#conflict(commit);
    if (conflict !== undefined) return { ok: false, conflict };
    const { key, version, document, log, archived, erase } = commit;
    if (erase === true) {
      this.#log.erase(key);
      this.#items.set({ kind: "state of session", id: key, read: 0 }, this.now);
    }
    this.#log.append(log, archived);
    this.#documents.set({ key, version: version + 1, document });
    this.#apply(commit);
    this.#listeners.announce();
    return { ok: true };
  }

  async rename({ key, version, document, archives, guard, ...entries }: SessionRenaming): Promise<boolean> {
    this.#check();
    const known = this.#documents.byKey(key);
    if (known?.version !== version || known.document.head.deletedAt === undefined) return false;
    if (!this.#isAt(guard)) return false;
    this.#documents.rename({ key, version, document });
    this.#someAreRenamed = true;
    for (const [n, archive] of archives) this.#log.setArchive(key, n, archive);
    this.#apply({ items: [], ...entries });
    return true;
  }

  async dropLines(sessions: readonly string[]): Promise<void> {
    this.#check();
    for (const key of sessions)
      if (this.#documents.byKey(key)?.document.head.deletedAt !== undefined) this.#log.drop(key);
  }

  async log(query: LogQuery): Promise<readonly LogRow[]> {
    this.#check();
    if ("at" in query) {
      return query.at.flatMap((seq) => this.#log.page({ after: seq - 1, until: seq, limit: 1 }));
    }
    return query.session === undefined ? this.#log.page(query) : this.#log.pageOf(query.session, query);
  }

  async archive(session: string, n: number): Promise<Archive | undefined> {
    this.#check();
    return this.#log.archive(session, n);
  }

  async entries(queries: readonly EntryQuery[]): Promise<readonly (readonly Entry[])[]> {
    this.#check();
    return queries.map((query) => this.#entries.page(query));
  }

  async lost(queries: readonly LostQuery[], limit: number): Promise<readonly Entry[]> {
    this.#check();
    this.#owners.fenceOverdue(this.now);
    const { unfenced } = this.#owners;
    return queries.flatMap((query) => this.#entries.except(query, unfenced, limit));
  }

  async items(
    keys: readonly { readonly kind: string; readonly id: string }[],
  ): Promise<readonly StoredItem[]> {
    this.#check();
    const { now } = this;
    return keys.flatMap(({ kind, id }) => this.#items.get(kind, id, now) ?? []);
  }

  async itemsOf(
    kind: string,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly StoredItem[]> {
    this.#check();
    return this.#items.page(kind, { ...page, now: this.now });
  }

  async change(change: StoreChange, upon: readonly ReadLine[] = []): Promise<boolean> {
    this.#check();
    if (!this.#areCurrent(change) || !this.#areThere(upon)) return false;
    this.#apply(change);
    if (change.announce === true) this.#listeners.announce();
    return true;
  }

  async takeDue(...[take]: Parameters<Store["takeDue"]>): Promise<readonly StoredItem[]> {
    this.#check();
    const { kind, value, limit } = take;
    const { now } = this;
    const due = this.#entries.page({ facet: kind, value, limit, until: now });
    const items = due.flatMap(({ id }) => this.#items.get(kind, id, now) ?? []);
    const { change, taken } = takeItems(items, take, now);
    this.#apply(change);
    return taken;
  }

  async beat(owner: Owner, leaseMs: number): Promise<boolean> {
    this.#check();
    const { now } = this;
    return this.#owners.beat(owner, now + leaseMs, now);
  }

  async retire(id: string): Promise<void> {
    this.#check();
    this.#owners.retire(id, this.now);
    this.#listeners.announce();
  }

  async owner(id: string): Promise<OwnerState | undefined> {
    this.#check();
    return this.#owners.state(id, this.now);
  }

  async history(): Promise<LedgerHistory> {
    this.#check();
    return { id: "memory", claimsInMs: 0 };
  }

  async checkpoints(
    which: { readonly after: number; readonly limit: number } | "last",
  ): Promise<readonly CheckpointRecord[]> {
    this.#check();
    if (which === "last") return this.#checkpoints.slice(-1);
    return this.#checkpoints.filter(({ k }) => k > which.after).slice(0, which.limit);
  }

  async seal(checkpoint: CheckpointRecord, upon?: SealedUpon): Promise<boolean> {
    this.#check();
    const { k } = checkpoint;
    const { previous, rows = [] } = upon ?? {};
    const before = this.#checkpoints.find((each) => each.k === k - 1);
    if (this.#checkpoints.some((each) => each.k === k)) return false;
    if (previous !== undefined && before?.hash !== previous) return false;
    if (!this.#areThere(rows)) return false;
    this.#checkpoints.push(checkpoint);
    return true;
  }

  #areThere(lines: readonly ReadLine[]): boolean {
    return lines.every(({ seq, hash }) => this.#log.hashAt(seq) === hash);
  }

  /** How many bytes it takes is not known. */
  async usage(most: Pick<Usage, "pending" | "sessions">): Promise<Usage> {
    this.#check();
    const documents = this.#documents.page({ afterKey: "", limit: Number.MAX_SAFE_INTEGER });
    const live = documents.filter(({ document }) => document.head.deletedAt === undefined);
    return {
      pending: this.#entries.page({ facet: "open", value: "", limit: most.pending }).length,
      sessions: Math.min(live.length, most.sessions),
      bytes: 0,
    };
  }

  pause(): Promise<void> {
    return setImmediate();
  }

  async tidy(): Promise<void> {
    this.#check();
    const { now } = this;
    this.#items.dropExpired(now);
    this.#owners.drop(now, (id) => this.#holds(id));
  }

  onChange(listener: () => void): () => void {
    this.#check();
    return this.#listeners.listen(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cold.close();
    this.#listeners.close();
  }

  #erased(name: SessionName): SessionName {
    return { ...name, user: erasedUser(this.digestKey, name.user) };
  }

  #check(): void {
    if (this.#closed) throw new CountersignError("closed", "The ledger is closed.");
  }

  #loaded(kept: Kept | undefined): LoadedDocument | undefined {
    return kept && { ...kept, now: this.now };
  }

  /** Version first: what else would be refused means something only for the session as it was read. */
  #conflict(commit: StoreCommit): Extract<CommitOutcome, { ok: false }>["conflict"] | undefined {
    const { owner, before, from } = commit;
    const { now } = this;
    if (!this.#isAsRead(commit)) return "version";
    if (owner !== undefined && this.#isSuspended()) return "suspended";
    if (owner !== undefined && !this.#owners.hasLease(owner, now)) return "owner";
    if ((before !== undefined && now >= before) || (from !== undefined && now < from)) return "deadline";
    return this.#areCurrent(commit) && this.#areAsChecked(commit) ? undefined : "row";
  }

  #isSuspended(): boolean {
    const found = this.#items.get(SUSPENSION.kind, SUSPENSION.id, this.now);
    // A mark that says anything but "not suspended" counts.
    return found !== undefined && (!isJsonObject(found.value) || found.value["suspended"] !== false);
  }

  #isAsRead({ key, version, create, head, changedAt }: StoreCommit): boolean {
    if (create !== undefined) return this.#documents.isFree(key, create);
    const known = this.#documents.byKey(key);
    if (known?.version !== version) return false;
    const { chain, updatedAt } = known.document.head;
    return (head ?? chain.hash) === chain.hash && (changedAt ?? updatedAt) === updatedAt;
  }

  #areCurrent({ items }: StoreChange): boolean {
    return items.every(
      ({ kind, id, read }) => read === undefined || this.#items.versionOf(kind, id, this.now) === read,
    );
  }

  #areAsChecked({ checks = [] }: StoreCommit): boolean {
    return checks.every((item) => this.#isAt(item));
  }

  #isAt({ kind, id, version }: SessionRenaming["guard"]): boolean {
    return this.#items.versionOf(kind, id, this.now) === version;
  }

  #apply({ items, add = [], remove = [] }: StoreChange): void {
    for (const item of items) this.#items.set(item, this.now);
    for (const entry of remove) this.#entries.remove(entry);
    for (const entry of add) this.#entries.add(entry);
    for (const part of [this.#documents, this.#log, this.#entries, this.#items]) part.spill();
  }

  #holds(owner: string): boolean {
    const held = ["held call", "held frame"].some((facet) => this.#entries.has(facet, owner));
    return held || this.#entries.hasNote("unknown call", owner);
  }
}
