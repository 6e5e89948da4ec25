import { DatabaseSync } from "node:sqlite";
import { bodyDigest } from "../src/engine/common/digest.ts";
import { documentText, type LogRow, type SessionDocument } from "../src/engine/index.ts";
import { CHAIN_START, chainHasher, rowBody, rowHash } from "../src/engine/journal/index.ts";
import { openSqliteLedger } from "../src/stores/sqlite/index.ts";
import {
  type FullRows,
  fullRows,
  fullSession,
  fullTerms,
  wordsIndexed,
} from "../test/support/ledger/full-session.ts";
import { APP, DEFINITION_DIGEST, USER, userEvent } from "./scenario.ts";

const INVOCATION = `e-${"0".repeat(34)}`;
const HASHER = chainHasher(undefined);

/** The ids of the n-th loaded confirmation and of its frame: older than whatever the engine makes. */
export function loadedPending(n: number): { readonly confirmation: string; readonly frame: string } {
  const { confirmation, frame } = fullSession(n);
  return { confirmation, frame };
}

/** A ledger in which so many people are asked something. Each can be decided, found by its words and verified. */
export async function loadPending(file: string, count: number, askedAt = Date.now()): Promise<void> {
  const digestKey = await createLedgerFile(file);
  const terms = fullTerms(digestKey, {
    pending: count,
    definitionDigest: DEFINITION_DIGEST,
    oneApp: true,
    askedAt,
  });
  fill(file, (tables) => {
    for (let n = 0; n < count; n += 1) tables.insert(fullRows(n, terms));
    tables.insert({ entries: [], items: [wordsIndexed(count)] });
  });
}

/** How the n-th session with a loaded history is called. */
export function loadedSession(n: number): string {
  return `history-${n}`;
}

/** A ledger with sessions of so many events each, one commit for each event. */
export async function loadHistory(file: string, events: number, sessions: number): Promise<void> {
  const digestKey = await createLedgerFile(file);
  const now = Date.now();
  const event = JSON.stringify({ ...userEvent(INVOCATION), id: "0".repeat(26) });
  const body = rowBody("", [], [event]);
  const digest = bodyDigest(digestKey, body);
  fill(file, (tables) => {
    for (let session = 0; session < sessions; session += 1) {
      const key = fullSession(session).key;
      let hash = CHAIN_START;
      for (let n = 1; n <= events; n += 1) {
        const row = { session: key, n, at: now, kinds: [], digest };
        hash = rowHash(HASHER, hash, row, 0);
        tables.append({ ...row, seq: session * events + n, hash, events: n, body });
      }
      const head = {
        app: APP,
        user: USER,
        id: loadedSession(session),
        nextSeq: events + 1,
        open: 0,
        ready: 0,
        bytes: events * event.length,
        chain: { n: events, hash },
        createdAt: now,
        updatedAt: now,
      };
      const document: SessionDocument = { head, frames: [], calls: [], confirmations: [], steps: [] };
      tables.addDocument({ key, ...head, head: hash, body: documentText(key, document) }, events);
    }
  });
}

/** Makes the ledger; gives the key of its digests. */
async function createLedgerFile(file: string): Promise<Uint8Array> {
  const ledger = await openSqliteLedger({ path: file });
  await ledger.close();
  return ledger.digestKey;
}

// Nothing here has to survive a crash, so nothing is synced and no log is kept.
function fill(file: string, load: (tables: Tables) => void): void {
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000; begin");
  const tables = new Tables(database);
  load(tables);
  tables.finish();
  database.exec("commit; analyze");
  database.close();
}

/** The tables of a ledger that is filled. */
class Tables {
  readonly #database: DatabaseSync;
  readonly #document;
  readonly #log;
  readonly #entry;
  readonly #item;

  constructor(database: DatabaseSync) {
    this.#database = database;
    // In the order of their keys at the end: one by one they would be put all over the table.
    database.exec("create temp table unsorted (facet, value, sort, id, note)");
    this.#document = database.prepare("insert into documents values (null, ?, ?, ?, ?, ?, ?, ?, 0, ?)");
    this.#log = database.prepare("insert into log values (?, ?, ?, ?, ?, ?, ?, ?, ?, null)");
    this.#entry = database.prepare("insert into unsorted values (?, ?, ?, ?, ?)");
    this.#item = database.prepare("insert into items values (null, ?, ?, 1, null, ?)");
  }

  insert({ document, log, entries, items }: FullRows): void {
    if (document !== undefined) this.addDocument(document, 1);
    if (log !== undefined) this.append(log);
    for (const { facet, value, sort, id, note } of entries)
      this.#entry.run(facet, value, sort, id, note ?? null);
    for (const { kind, id, value } of items) this.#item.run(kind, id, JSON.stringify(value));
  }

  addDocument(document: NonNullable<FullRows["document"]>, version: number): void {
    const { key, app, user, id, head, updatedAt, body } = document;
    this.#document.run(key, app, user, id, version, head, updatedAt, body);
  }

  append({ seq, session, n, at, kinds, digest, hash, events, body }: LogRow): void {
    const told = kinds.length === 0 ? "" : JSON.stringify(kinds);
    this.#log.run(seq, session, n, at, told, digest, hash, events, body);
  }

  finish(): void {
    this.#database.exec(
      "insert into entries select * from unsorted order by facet, value, sort, id; drop table unsorted",
    );
  }
}
