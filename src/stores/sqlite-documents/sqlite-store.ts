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
import type { Row, SqlValue } from "../sql/row.ts";
import { Changes } from "../sqlite/changes.ts";
import type { Database } from "../sqlite/database.ts";
import { CommitQueue } from "./commit-queue.ts";
import { changeItems } from "./write-commit.ts";

const DOCUMENT = "select key, version, body from documents";
const BY_KEY = `${DOCUMENT} where key = ?`;
const BY_NAME = `${DOCUMENT} where app = ? and user = ? and id = ?`;
const BY_KEYS = `select d.key, d.version, d.body from json_each(?) wanted cross join documents d on d.key = wanted.value order by wanted.key`;
const OF_USER = `${DOCUMENT} where app = ? and user = ? and id > ? and deleted = 0 order by id limit ?`;
const OF_APP = `${DOCUMENT} where app = ? and (user, id) > (?, ?) and deleted = 0 order by user, id limit ?`;
const ALL = `${DOCUMENT} where key > ? order by key limit ?`;
const IDLE = `${DOCUMENT} where key > ? and updated_at < ? and deleted = 0 order by key limit ?`;

const LOG = "select seq, session, n, at, kinds, digest, hash, events, body, archived from log";
const OLDEST = `${LOG} where seq > ? and seq <= ? order by seq limit ?`;
const NEWEST = `${LOG} where seq > ? and seq <= ? order by seq desc limit ?`;
const OLDEST_OF = `${LOG} where session = ? and n > ? and n <= ? order by n limit ?`;
const NEWEST_OF = `${LOG} where session = ? and n > ? and n <= ? order by n desc limit ?`;

const ENTRIES = "select facet, value, sort, id, note from entries where facet = ? and value = ?";
const UPWARDS = `${ENTRIES} and (sort, id) > (?, ?) and sort <= ?`;
const DOWNWARDS = `${ENTRIES} and (sort, id) < (?, ?)`;
const NOTED = " and note in (select value from json_each(?) wanted)";
const LOST =
  "select e.facet, e.value, e.sort, e.id, e.note from entries e where e.facet = ? " +
  "and not exists (select 1 from owners o where o.id = e.value and o.fenced = 0) limit ?";

const ALIVE = "(expires_at is null or expires_at > ?)";
const ITEM = `select kind, id, value, version, expires_at from items where kind = ? and id = ? and ${ALIVE}`;
const ITEMS = `select kind, id, value, version, expires_at from items where kind = ? and id > ? and ${ALIVE} order by id limit ?`;
const DROP_EXPIRED = "delete from items where expires_at <= ?";

const BEAT =
  "insert into owners (id, host, pid, lease_until, last_beat_at, fenced) values (?, ?, ?, ?, ?, 0) " +
  "on conflict do update set lease_until = excluded.lease_until, last_beat_at = excluded.last_beat_at where fenced = 0";
const RETIRE = "update owners set fenced = 1, lease_until = min(lease_until, ?) where id = ?";
const OWNER = "select id, host, pid, last_beat_at, lease_until, fenced from owners where id = ?";
const OVERDUE = "select 1 from owners where fenced = 0 and (lease_until <= ?1 or last_beat_at > ?1) limit 1";
// The clock was set back since. The lease counts from now on: who is alive beats before it is over.
const REBASE =
  "update owners set lease_until = ?1 + lease_until - last_beat_at, last_beat_at = ?1 where fenced = 0 and last_beat_at > ?1";
const FENCE = "update owners set fenced = 1 where fenced = 0 and lease_until <= ?";
const KEPT_MS = 24 * 60 * 60 * 1_000;
const DROP_OWNERS =
  "delete from owners where lease_until <= ? " +
  "and not exists (select 1 from entries where facet in ('held call', 'held frame') and value = owners.id) " +
  "and not exists (select 1 from entries where facet = 'unknown call' and value = '' and note = owners.id)";

const CHECKPOINTS = "select k, last_seq, count, root, hash, at from checkpoints";
const SEAL =
  "insert into checkpoints (k, last_seq, count, root, hash, at) values (?, ?, ?, ?, ?, ?) on conflict do nothing";
const HAS_ROW = "select 1 from log where seq = ? and hash = ?";
const HAS_CHECKPOINT = "select 1 from checkpoints where k = ? and hash = ?";

const ONE_HISTORY: LedgerHistory = { id: "file", claimsInMs: 0 };
const FIRST = [Number.MIN_SAFE_INTEGER, ""] as const;
const LAST = [Number.MAX_SAFE_INTEGER, "\u{10ffff}"] as const;

/** A store in one SQLite file. Each method is one statement or one transaction. */
export class SqliteStore implements Store {
  readonly gapless = true;
  readonly digestKey: Uint8Array;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #queue: CommitQueue;

  constructor(database: Database, digestKey: Uint8Array, clock: Clock) {
    this.#database = database;
    this.digestKey = digestKey;
    this.#clock = clock;
    this.#changes = new Changes(database);
    this.#queue = new CommitQueue(database, {
      now: () => clock.now(),
      written: () => this.#changes.announce(),
    });
  }

  get now(): number {
    return this.#clock.now();
  }

  load(
    which: { readonly key: string } | { readonly name: SessionName },
  ): Promise<LoadedDocument | undefined> {
    return this.#read((database) => {
      const row =
        "key" in which
          ? database.get(BY_KEY, [which.key])
          : database.get(BY_NAME, [which.name.app, which.name.user, which.name.id]);
      return row && this.#document(row);
    });
  }

  loadAll(keys: readonly string[]): Promise<readonly LoadedDocument[]> {
    return this.#read((database) => {
      const rows =
        keys.length === 1
          ? database.all(BY_KEY, [keys[0] ?? ""])
          : database.all(BY_KEYS, [JSON.stringify(keys)]);
      return rows.map((row) => this.#document(row));
    });
  }

  documents(query: DocumentQuery): Promise<readonly LoadedDocument[]> {
    return this.#read((database) => {
      if (!("app" in query)) {
        const { afterKey, limit, idleBefore } = query;
        const rows =
          idleBefore === undefined
            ? database.all(ALL, [afterKey, limit])
            : database.all(IDLE, [afterKey, idleBefore, limit]);
        return rows.map((row) => this.#document(row));
      }
      const { app, user, after = [], limit } = query;
      const rows =
        user === undefined
          ? database.all(OF_APP, [app, after[0] ?? "", after[1] ?? "", limit])
          : database.all(OF_USER, [app, user, after[0] ?? "", limit]);
      return rows.map((row) => this.#document(row));
    });
  }

  commit(commit: StoreCommit): Promise<CommitOutcome> {
    return this.#queue.add(commit);
  }

  log({ after, until = Number.MAX_SAFE_INTEGER, limit, bytes, last }: LogRange): Promise<readonly LogRow[]> {
    return this.#read((database) =>
      readRows(database, last === true ? NEWEST : OLDEST, [after, until, limit], { bytes, last }),
    );
  }

  sessionLog(
    session: string,
    { after, until = Number.MAX_SAFE_INTEGER, limit, bytes, last }: LogRange,
  ): Promise<readonly LogRow[]> {
    const sql = last === true ? NEWEST_OF : OLDEST_OF;
    return this.#read((database) => readRows(database, sql, [session, after, until, limit], { bytes, last }));
  }

  entries(queries: readonly EntryQuery[]): Promise<readonly (readonly Entry[])[]> {
    return this.#read((database) => queries.map((query) => readEntries(database, query)));
  }

  async lost(facets: readonly string[], limit: number): Promise<readonly Entry[]> {
    const now = this.#clock.now();
    if ((await this.#read((database) => database.get(OVERDUE, [now]))) !== undefined) {
      await this.#database.write(false, () => {
        this.#database.run(REBASE, [now]);
        this.#database.run(FENCE, [now]);
      });
    }
    return this.#read((database) =>
      facets.flatMap((facet) => database.all(LOST, [facet, limit]).map(toEntry)),
    );
  }

  items(keys: readonly { readonly kind: string; readonly id: string }[]): Promise<readonly StoredItem[]> {
    const now = this.#clock.now();
    return this.#read((database) =>
      keys.flatMap(({ kind, id }) => database.all(ITEM, [kind, id, now]).map(toItem)),
    );
  }

  itemsOf(
    kind: string,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<readonly StoredItem[]> {
    const now = this.#clock.now();
    return this.#read((database) => database.all(ITEMS, [kind, after, now, limit]).map(toItem));
  }

  async change(change: StoreChange): Promise<boolean> {
    const changed = await this.#database.write(true, () =>
      changeItems(this.#database, change, this.#clock.now()),
    );
    if (changed) this.#changes.announce();
    return changed;
  }

  beat({ id, host, pid }: Owner, leaseMs: number): Promise<boolean> {
    return this.#database.write(false, () => {
      const now = this.#clock.now();
      return this.#database.run(BEAT, [id, host, pid, now + leaseMs, now]) === 1;
    });
  }

  async retire(owner: string): Promise<void> {
    await this.#database.write(false, () => this.#database.run(RETIRE, [this.#clock.now(), owner]));
    this.#changes.announce();
  }

  owner(id: string): Promise<OwnerState | undefined> {
    return this.#read((database) => {
      const row = database.get(OWNER, [id]);
      return row && toOwner(row, this.#clock.now());
    });
  }

  history(): Promise<LedgerHistory> {
    return Promise.resolve(ONE_HISTORY);
  }

  checkpoints(
    which: { readonly after: number; readonly limit: number } | "last",
  ): Promise<readonly CheckpointRecord[]> {
    return this.#read((database) =>
      (which === "last"
        ? database.all(`${CHECKPOINTS} order by k desc limit 1`)
        : database.all(`${CHECKPOINTS} where k > ? order by k limit ?`, [which.after, which.limit])
      ).map(toCheckpoint),
    );
  }

  seal(
    { k, lastSeq, count, root, hash, at }: CheckpointRecord,
    upon?: Parameters<Store["seal"]>[1],
  ): Promise<boolean> {
    return this.#database.write(false, () => {
      const { previous, row } = upon ?? {};
      if (row !== undefined && this.#database.get(HAS_ROW, [row.seq, row.hash]) === undefined) return false;
      if (previous !== undefined && this.#database.get(HAS_CHECKPOINT, [k - 1, previous]) === undefined)
        return false;
      return this.#database.run(SEAL, [k, lastSeq, count, root, hash, at]) === 1;
    });
  }

  async tidy(): Promise<void> {
    const now = this.#clock.now();
    await this.#database.write(false, () => {
      this.#database.run(DROP_EXPIRED, [now]);
      this.#database.run(DROP_OWNERS, [now - KEPT_MS]);
    });
  }

  onChange(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  async close(): Promise<void> {
    this.#database.close();
    this.#changes.close();
  }

  #read<T>(body: (database: Database) => T): Promise<T> {
    return this.#database.read(() => body(this.#database));
  }

  #document([key, version, body]: Row): LoadedDocument {
    const document = JSON.parse(body as string) as SessionDocument;
    return { key: key as string, version: version as number, document, now: this.#clock.now() };
  }
}

function readRows(
  database: Database,
  sql: string,
  values: readonly SqlValue[],
  {
    bytes = Number.POSITIVE_INFINITY,
    last,
  }: { readonly bytes?: number | undefined; readonly last?: true | undefined },
): readonly LogRow[] {
  const rows = database.all(sql, values).map(toLogRow);
  if (last === true) rows.reverse();
  let left = bytes;
  for (const [at, { body }] of rows.entries()) {
    left -= body === null ? 0 : Buffer.byteLength(body);
    if (left < 0) return rows.slice(0, Math.max(at, 1));
  }
  return rows;
}

function readEntries(database: Database, query: EntryQuery): readonly Entry[] {
  const { facet, value, limit, after, until = Number.MAX_SAFE_INTEGER, newestFirst, notes } = query;
  const noted = notes === undefined ? "" : NOTED;
  const given = notes === undefined ? [] : [JSON.stringify(notes)];
  const most = Math.min(limit, Number.MAX_SAFE_INTEGER);
  const rows =
    newestFirst === true
      ? database.all(`${DOWNWARDS}${noted} order by sort desc, id desc limit ?`, [
          facet,
          value,
          ...(after ?? LAST),
          ...given,
          most,
        ])
      : database.all(`${UPWARDS}${noted} order by sort, id limit ?`, [
          facet,
          value,
          ...(after ?? FIRST),
          until,
          ...given,
          most,
        ]);
  return rows.map(toEntry);
}

function toEntry([facet, value, sort, id, note]: Row): Entry {
  return {
    facet: facet as string,
    value: value as string,
    sort: sort as number,
    id: id as string,
    ...(note === null ? {} : { note: note as string }),
  };
}

function toLogRow([seq, session, n, at, kinds, digest, hash, events, body, archived]: Row): LogRow {
  return {
    seq: seq as number,
    session: session as string,
    n: n as number,
    at: at as number,
    kinds: kinds === "" ? [] : (JSON.parse(kinds as string) as string[]),
    digest: digest as string,
    hash: hash as string,
    events: events as number,
    body: body as string | null,
    ...(archived === null
      ? {}
      : { archived: JSON.parse(archived as string) as NonNullable<LogRow["archived"]> }),
  };
}

function toItem([kind, id, value, version, expiresAt]: Row): StoredItem {
  return {
    kind: kind as string,
    id: id as string,
    value: JSON.parse(value as string) as StoredItem["value"],
    version: version as number,
    ...(expiresAt === null ? {} : { expiresAt: expiresAt as number }),
  };
}

function toOwner([id, host, pid, lastBeatAt, leaseUntil, fenced]: Row, now: number): OwnerState {
  const isFenced = fenced === 1;
  return {
    id: id as string,
    host: host as string,
    pid: pid as number,
    lastBeatAt: lastBeatAt as number,
    leaseUntil: leaseUntil as number,
    fenced: isFenced,
    alive: !isFenced && (leaseUntil as number) > now,
  };
}

function toCheckpoint([k, lastSeq, count, root, hash, at]: Row): CheckpointRecord {
  return {
    k: k as number,
    lastSeq: lastSeq as number,
    count: count as number,
    root: root as string,
    hash: hash as string,
    at: at as number,
  };
}
