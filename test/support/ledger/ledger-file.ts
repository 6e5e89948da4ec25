import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import {
  type ConfirmationRow,
  type FrameRow,
  type LedgerContents,
  type LedgerView,
  QUERIES,
  toCall,
  toJournal,
} from "./ledger-view.ts";

const BUSY_MS = 5_000;
const IS_MADE = "select count(*) as count from sqlite_schema where name = 'journal'";
const LAST_SEQ = "select coalesce(max(seq), 0) as count from journal";

type Row = Record<string, SQLOutputValue>;

/** The view of a ledger in a file. */
export class LedgerFile implements LedgerView {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = openToRead(path);
  }

  isMade(): boolean {
    return this.#count(IS_MADE) > 0;
  }

  lastSeq(): number {
    return this.#count(LAST_SEQ);
  }

  sessionIds(): ReadonlySet<string> {
    return new Set(this.#rows(QUERIES.sessionIds).map(({ id }) => String(id)));
  }

  framesOf(session: string): readonly FrameRow[] {
    return this.#rows(QUERIES.framesOf, session) as unknown as FrameRow[];
  }

  framesOfSession(sessionId: string): readonly FrameRow[] {
    const [session] = this.#rows(QUERIES.sessionKey, sessionId);
    return session === undefined ? [] : this.framesOf(String(session["key"]));
  }

  deadlineOf(confirmation: string): number {
    const [row] = this.#rows(QUERIES.deadline, confirmation);
    return Number(row?.["deadline"]);
  }

  moving(): number {
    return this.#count(QUERIES.moving);
  }

  unsettled(): number {
    return this.#count(QUERIES.unsettled);
  }

  unknownCalls(): number {
    return this.#count(QUERIES.unknownCalls);
  }

  messageCount(): number {
    return this.#count(QUERIES.messages);
  }

  contents(): LedgerContents {
    this.#database.exec("begin");
    try {
      return {
        digestKey: this.#database.prepare(QUERIES.digestKey).get()?.["value"] as Uint8Array,
        sessions: this.#rows(QUERIES.sessions) as unknown as LedgerContents["sessions"],
        calls: this.#rows(QUERIES.calls).map(toCall),
        frames: this.#rows(QUERIES.frames) as unknown as FrameRow[],
        confirmations: this.#rows(QUERIES.confirmations) as unknown as ConfirmationRow[],
        journal: this.#rows(QUERIES.journal).map(toJournal),
      };
    } finally {
      this.#database.exec("commit");
    }
  }

  close(): void {
    this.#database.close();
  }

  #count(sql: string, ...values: readonly string[]): number {
    return Number(this.#rows(sql, ...values)[0]?.["count"] ?? 0);
  }

  #rows(sql: string, ...values: readonly string[]): readonly Row[] {
    return this.#database.prepare(sql).all(...values);
  }
}

// Read only, because the last writer to close a file checkpoints it, and a test must not do that to a ledger
// whose processes were killed. A file whose very first write was cut off can only be read by who may undo it.
function openToRead(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
  try {
    database.prepare("select count(*) from sqlite_schema").get();
    return database;
  } catch (error) {
    database.close();
    if (!(error instanceof Error) || !error.message.includes("readonly")) throw error;
    return new DatabaseSync(path, { timeout: BUSY_MS });
  }
}
