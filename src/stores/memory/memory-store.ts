import { randomBytes } from "node:crypto";
import type {
  CheckpointRecord,
  Clock,
  CommitOutcome,
  DocumentQuery,
  Entry,
  EntryQuery,
  LedgerHistory,
  LoadedDocument,
  LogRange,
  LogRow,
  Owner,
  OwnerState,
  SessionDocument,
  SessionName,
  Store,
  StoreChange,
  StoreCommit,
  StoredItem,
} from "../../engine/index.ts";
import { eraseArchive } from "../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { Listeners } from "./listeners.ts";
import { SortedEntries } from "./sorted-entries.ts";

interface Kept {
  readonly version: number;
  readonly document: SessionDocument;
  /** Positions of its log rows; the first is `n` 1. */
  readonly rows: number[];
}

interface Lease extends Owner {
  leaseUntil: number;
  lastBeatAt: number;
  fenced: boolean;
}

const KEPT_MS = 24 * 60 * 60 * 1_000;

/** A store of plain structures, gone with the process. */
export class MemoryStore implements Store {
  readonly gapless = true;
  readonly digestKey: Uint8Array = randomBytes(32);
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Kept>();
  readonly #names = new Map<string, string>();
  readonly #log: LogRow[] = [];
  readonly #index = new Map<string, SortedEntries>();
  readonly #items = new Map<string, StoredItem>();
  readonly #owners = new Map<string, Lease>();
  readonly #checkpoints: CheckpointRecord[] = [];
  readonly #changes = new Listeners();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get now(): number {
    return this.#clock.now();
  }

  async load(
    which: { readonly key: string } | { readonly name: SessionName },
  ): Promise<LoadedDocument | undefined> {
    this.#check();
    return this.#loaded("key" in which ? which.key : this.#names.get(nameOf(which.name)));
  }

  async loadAll(keys: readonly string[]): Promise<readonly LoadedDocument[]> {
    this.#check();
    return keys.map((key) => this.#loaded(key)).filter((loaded) => loaded !== undefined);
  }

  async documents(query: DocumentQuery): Promise<readonly LoadedDocument[]> {
    this.#check();
    if ("app" in query) return this.#named(query);
    const { afterKey, limit, idleBefore = Number.POSITIVE_INFINITY } = query;
    return [...this.#sessions.keys()]
      .filter((key) => key > afterKey)
      .sort()
      .map((key) => this.#loaded(key))
      .filter((loaded) => loaded !== undefined)
      .filter(({ document }) => document.head.updatedAt < idleBefore)
      .slice(0, limit);
  }

  async commit(commit: StoreCommit): Promise<CommitOutcome> {
    this.#check();
    const { key, version, head, create, document, log } = commit;
    const known = this.#sessions.get(key);
    const name = create && nameOf(create);
    if ((known?.version ?? 0) !== version || (name !== undefined && this.#names.has(name)))
      return { ok: false, conflict: "version" };
    if (head !== undefined && known?.document.head.chain.hash !== head)
      return { ok: false, conflict: "version" };
    const conflict = this.#refused(commit);
    if (conflict !== undefined) return { ok: false, conflict };
    if (!this.#isCurrent(commit)) return { ok: false, conflict: "row" };
    if (name !== undefined) this.#names.set(name, key);
    if (commit.erase === true) this.#erase(key);
    const rows = known?.rows ?? [];
    this.#log.push({ ...log, seq: this.#log.length + 1 });
    rows.push(this.#log.length);
    this.#sessions.set(key, { version: version + 1, document, rows });
    this.#apply(commit);
    this.#changes.announce();
    return { ok: true };
  }

  async log({ after, until = this.#log.length, limit, bytes, last }: LogRange): Promise<readonly LogRow[]> {
    this.#check();
    const end = Math.min(until, this.#log.length);
    const start = last === true ? Math.max(after, end - limit) : after;
    return within(this.#log.slice(Math.max(start, 0), Math.min(end, Math.max(start, 0) + limit)), bytes);
  }

  async sessionLog(
    session: string,
    { after, until = Number.MAX_SAFE_INTEGER, limit, bytes, last }: LogRange,
  ): Promise<readonly LogRow[]> {
    this.#check();
    const rows = this.#sessions.get(session)?.rows ?? [];
    const end = Math.min(until, rows.length);
    const start = last === true ? Math.max(after, end - limit) : after;
    const seqs = rows.slice(start, Math.min(end, start + limit));
    return within(
      seqs.map((seq) => this.#log[seq - 1] as LogRow),
      bytes,
    );
  }

  async entries(queries: readonly EntryQuery[]): Promise<readonly (readonly Entry[])[]> {
    this.#check();
    return queries.map((query) => this.#index.get(placeOf(query))?.page(query) ?? []);
  }

  async lost(facets: readonly string[], limit: number): Promise<readonly Entry[]> {
    this.#check();
    const now = this.now;
    for (const owner of this.#owners.values()) this.#fence(owner, now);
    const found: Entry[] = [];
    for (const [place, entries] of this.#index) {
      const [facet = "", owner = ""] = JSON.parse(place) as string[];
      if (!facets.includes(facet) || this.#owners.get(owner)?.fenced === false) continue;
      for (const entry of entries.all()) if (found.length < limit) found.push(entry);
    }
    return found;
  }

  async items(
    keys: readonly { readonly kind: string; readonly id: string }[],
  ): Promise<readonly StoredItem[]> {
    this.#check();
    return keys.map(({ kind, id }) => this.#item(kind, id)).filter((item) => item !== undefined);
  }

  async itemsOf(
    kind: string,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<readonly StoredItem[]> {
    this.#check();
    return [...this.#items.values()]
      .filter((item) => item.kind === kind && item.id > after && this.#isAlive(item))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  async change(change: StoreChange): Promise<boolean> {
    this.#check();
    if (!this.#isCurrent(change)) return false;
    this.#apply(change);
    this.#changes.announce();
    return true;
  }

  async beat(owner: Owner, leaseMs: number): Promise<boolean> {
    this.#check();
    const now = this.now;
    const known = this.#owners.get(owner.id);
    if (known?.fenced === true) return false;
    this.#owners.set(owner.id, { ...owner, leaseUntil: now + leaseMs, lastBeatAt: now, fenced: false });
    return true;
  }

  async retire(id: string): Promise<void> {
    this.#check();
    const owner = this.#owners.get(id);
    if (owner === undefined) return;
    owner.fenced = true;
    owner.leaseUntil = Math.min(owner.leaseUntil, this.now);
    this.#changes.announce();
  }

  async owner(id: string): Promise<OwnerState | undefined> {
    this.#check();
    const owner = this.#owners.get(id);
    if (owner === undefined) return undefined;
    const { host, pid, leaseUntil, lastBeatAt, fenced } = owner;
    return { id, host, pid, leaseUntil, lastBeatAt, fenced, alive: !fenced && leaseUntil > this.now };
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

  async seal(checkpoint: CheckpointRecord, upon?: Parameters<Store["seal"]>[1]): Promise<boolean> {
    this.#check();
    const { k } = checkpoint;
    if (this.#checkpoints.some((each) => each.k === k)) return false;
    const { previous, row } = upon ?? {};
    if (row !== undefined && this.#log[checkpoint.lastSeq - 1]?.hash !== row) return false;
    if (
      previous !== undefined &&
      !this.#checkpoints.some((each) => each.k === k - 1 && each.hash === previous)
    )
      return false;
    this.#checkpoints.push(checkpoint);
    return true;
  }

  async tidy(): Promise<void> {
    this.#check();
    for (const [place, item] of this.#items) if (!this.#isAlive(item)) this.#items.delete(place);
    for (const { id, leaseUntil } of this.#owners.values()) {
      if (leaseUntil <= this.now - KEPT_MS && !this.#holds(id)) this.#owners.delete(id);
    }
  }

  onChange(listener: () => void): () => void {
    this.#check();
    return this.#changes.listen(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#changes.close();
  }

  #check(): void {
    if (this.#closed) throw new CountersignError("closed", "The ledger is closed.");
  }

  #loaded(key: string | undefined): LoadedDocument | undefined {
    const kept = key === undefined ? undefined : this.#sessions.get(key);
    if (key === undefined || kept === undefined) return undefined;
    return { key, version: kept.version, document: kept.document, now: this.now };
  }

  #named({
    app,
    user,
    after = [],
    limit,
  }: Extract<DocumentQuery, { app: string }>): readonly LoadedDocument[] {
    const placeOfSession = ({ document: { head } }: LoadedDocument): readonly string[] =>
      user === undefined ? [head.user, head.id] : [head.id];
    return [...this.#sessions.keys()]
      .map((key) => this.#loaded(key))
      .filter((loaded) => loaded !== undefined)
      .filter(({ document: { head } }) => head.app === app && (user === undefined || head.user === user))
      .filter(({ document }) => document.head.deletedAt === undefined)
      .filter((loaded) => comparePlaces(placeOfSession(loaded), after) > 0)
      .sort((a, b) => comparePlaces(placeOfSession(a), placeOfSession(b)))
      .slice(0, limit);
  }

  #refused({ owner, before, from }: StoreCommit): "owner" | "deadline" | undefined {
    const now = this.now;
    const lease = owner === undefined ? undefined : this.#owners.get(owner);
    if (owner !== undefined && (lease === undefined || lease.fenced || lease.leaseUntil <= now))
      return "owner";
    const late = before !== undefined && now >= before;
    const early = from !== undefined && now < from;
    return late || early ? "deadline" : undefined;
  }

  /** Is every item still in the version that was read? */
  #isCurrent({ items }: StoreChange): boolean {
    return items.every(
      ({ kind, id, read }) => read === undefined || (this.#item(kind, id)?.version ?? 0) === read,
    );
  }

  #apply({ items, add = [], remove = [] }: StoreChange): void {
    for (const { kind, id, value, expiresAt, read } of items) {
      const place = JSON.stringify([kind, id]);
      const known = this.#item(kind, id);
      if (value === undefined) {
        this.#items.delete(place);
        continue;
      }
      const merged =
        read === undefined ? { ...(known?.value as JsonObject), ...(value as JsonObject) } : value;
      const version = (known?.version ?? 0) + 1;
      this.#items.set(place, {
        kind,
        id,
        value: merged,
        version,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      });
    }
    for (const entry of remove) {
      const place = placeOf(entry);
      const entries = this.#index.get(place);
      entries?.remove(entry);
      if (entries?.isEmpty === true) this.#index.delete(place);
    }
    for (const entry of add) {
      const place = placeOf(entry);
      const entries = this.#index.get(place) ?? new SortedEntries();
      if (entries.isEmpty) this.#index.set(place, entries);
      entries.add(entry);
    }
  }

  #erase(key: string): void {
    for (const seq of this.#sessions.get(key)?.rows ?? []) {
      const { archived, ...row } = this.#log[seq - 1] as LogRow;
      const erased = archived && eraseArchive(archived);
      this.#log[seq - 1] = { ...row, body: null, ...(erased === undefined ? {} : { archived: erased }) };
    }
    this.#items.delete(JSON.stringify(["state of session", key]));
  }

  #item(kind: string, id: string): StoredItem | undefined {
    const item = this.#items.get(JSON.stringify([kind, id]));
    return item !== undefined && this.#isAlive(item) ? item : undefined;
  }

  #isAlive({ expiresAt }: StoredItem): boolean {
    return expiresAt === undefined || expiresAt > this.now;
  }

  // A clock that was set back: the lease counts from now on, and whoever lives beats before it is over.
  #fence(owner: Lease, now: number): void {
    if (owner.lastBeatAt > now) {
      owner.leaseUntil = now + owner.leaseUntil - owner.lastBeatAt;
      owner.lastBeatAt = now;
    }
    if (owner.leaseUntil <= now) owner.fenced = true;
  }

  #holds(owner: string): boolean {
    const held = ["held call", "held frame"].some((facet) =>
      this.#index.has(placeOf({ facet, value: owner })),
    );
    const unknown = this.#index.get(placeOf({ facet: "unknown call", value: "" }));
    return held || [...(unknown?.all() ?? [])].some(({ note }) => note === owner);
  }
}

function nameOf({ app, user, id }: SessionName): string {
  return JSON.stringify([app, user, id]);
}

function placeOf({ facet, value }: Pick<Entry, "facet" | "value">): string {
  return JSON.stringify([facet, value]);
}

function comparePlaces(a: readonly string[], b: readonly string[]): number {
  for (const [at, left] of a.entries()) {
    const right = b[at] ?? "";
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

function within(rows: readonly LogRow[], bytes: number | undefined): readonly LogRow[] {
  if (bytes === undefined) return rows;
  let left = bytes;
  for (const [at, { body }] of rows.entries()) {
    left -= body === null ? 0 : Buffer.byteLength(body);
    if (left < 0) return rows.slice(0, Math.max(at, 1));
  }
  return rows;
}
