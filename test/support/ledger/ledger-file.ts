import { DatabaseSync } from "node:sqlite";
import {
  countOpen,
  countUnknown,
  type DocumentRow,
  endOf,
  type FrameRow,
  framesOf,
  type JournalRow,
  type LedgerContents,
  type LedgerView,
  QUERIES,
  type Row,
  toContents,
  toDocument,
  toJournal,
  WATCH,
} from "./ledger-view.ts";

const BUSY_MS = 5_000;
const IS_MADE = "select count(*) as count from sqlite_schema where name = 'log'";
const LAST_SEQ = "select coalesce(max(seq), 0) as count from log";

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
    return endOf(this.#count(LAST_SEQ));
  }

  sessionIds(): ReadonlySet<string> {
    const others = this.#documents().filter(({ app }) => app !== `gate:${WATCH}`);
    return new Set(others.map(({ id }) => id));
  }

  framesOf(session: string): readonly FrameRow[] {
    return this.#together(() => this.#framesOf(this.#rows(QUERIES.document, session)));
  }

  framesOfSession(sessionId: string): readonly FrameRow[] {
    return this.#together(() => this.#framesOf(this.#rows(QUERIES.documentByName, sessionId)));
  }

  deadlineOf(confirmation: string): number {
    const all = this.#documents().flatMap(({ confirmations }) => confirmations);
    return Number(all.find(({ id }) => id === confirmation)?.expiresAt);
  }

  moving(): number {
    return countOpen(this.#documents(), { settle: false });
  }

  unsettled(): number {
    return countOpen(this.#documents(), { settle: true });
  }

  unknownCalls(): number {
    return countUnknown(this.#documents());
  }

  messageCount(): number {
    return this.#together(() => this.#framesOf(this.#rows(QUERIES.documents)).length);
  }

  journalOf(call: string): readonly JournalRow[] {
    return this.#rows(QUERIES.sessionLog, call.slice(0, call.indexOf("."))).flatMap(toJournal);
  }

  contents(): LedgerContents {
    return this.#together(() => {
      const digestKey = this.#database.prepare(QUERIES.digestKey).get()?.["value"] as Uint8Array;
      return toContents(digestKey, this.#documents(), this.#rows(QUERIES.log));
    });
  }

  close(): void {
    this.#database.close();
  }

  #documents(): readonly DocumentRow[] {
    return this.#rows(QUERIES.documents).map(toDocument);
  }

  #framesOf(documents: readonly Row[]): readonly FrameRow[] {
    return documents
      .map(toDocument)
      .flatMap((document) => framesOf(document, this.#rows(QUERIES.sessionLog, document.key)));
  }

  /** What is read in it is of the same moment. */
  #together<T>(read: () => T): T {
    this.#database.exec("begin");
    try {
      return read();
    } finally {
      this.#database.exec("commit");
    }
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
