import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import type { CallStatus, ConfirmationStatus, FrameStatus } from "../../src/engine/index.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/index.ts";

export interface CallRow {
  readonly id: string;
  readonly session: string;
  readonly tool: string;
  readonly status: CallStatus;
  readonly attempt: number;
  readonly repeatable: boolean;
  readonly result: JsonValue;
}

export interface FrameRow {
  readonly id: string;
  readonly session: string;
  readonly status: FrameStatus;
}

export interface ConfirmationRow {
  readonly id: string;
  readonly call: string;
  readonly status: ConfirmationStatus;
}

export interface JournalRow {
  readonly seq: number;
  readonly stream: string;
  readonly n: number;
  readonly kind: string;
  readonly body: JsonObject;
}

/** All that the checker looks at, as it was at one moment. */
export interface LedgerContents {
  readonly digestKey: Uint8Array;
  readonly sessions: readonly { readonly key: string; readonly app: string; readonly id: string }[];
  readonly calls: readonly CallRow[];
  readonly frames: readonly FrameRow[];
  readonly confirmations: readonly ConfirmationRow[];
  readonly journal: readonly JournalRow[];
}

const IN_DOUBT = "exists (select 1 from calls k where k.session = c.session and k.status = 'unknown')";

const BUSY_MS = 5_000;

type Row = Record<string, SQLOutputValue>;

/** A second pair of eyes on a ledger's file: its own connection and its own statements, read only. */
export class LedgerFile {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = openToRead(path);
  }

  /** Has it a schema yet? */
  isMade(): boolean {
    return this.#count("select count(*) as count from sqlite_schema where name = 'journal'") > 0;
  }

  /** The newest committed journal record. */
  lastSeq(): number {
    return this.#count("select coalesce(max(seq), 0) as count from journal");
  }

  /** Names of the sessions that exist. */
  sessionIds(): ReadonlySet<string> {
    return new Set(this.#rows("select id from sessions").map(({ id }) => String(id)));
  }

  /** The frames that answer a session's messages, in their order; those of other agents' work are left out. */
  framesOf(session: string): readonly FrameRow[] {
    return this.#rows(
      "select id, session, status from frames where session = ? and parent_frame is null order by invocation",
      session,
    ) as unknown as FrameRow[];
  }

  /** As `framesOf`, by the session's name. */
  framesOfSession(sessionId: string): readonly FrameRow[] {
    const [session] = this.#rows("select key from sessions where id = ?", sessionId);
    return session === undefined ? [] : this.framesOf(String(session["key"]));
  }

  /** When a confirmation expires. */
  deadlineOf(confirmation: string): number {
    const [row] = this.#rows("select deadline from confirmations where id = ?", confirmation);
    return Number(row?.["deadline"]);
  }

  /** Calls that still have somewhere to go by themselves; what waits for an unknown one has not. */
  movingCalls(): number {
    return this.#count(
      "select count(*) as count from calls c where status in ('waiting', 'ready', 'executing') " +
        `or (status = 'suspended' and not ${IN_DOUBT})`,
    );
  }

  unknownCalls(): number {
    return this.#count("select count(*) as count from calls where status = 'unknown'");
  }

  /** How many messages were received. */
  messageCount(): number {
    return this.#count("select count(*) as count from frames where parent_frame is null");
  }

  /** Frames that are not at their end, but for those that wait for a call whose outcome is unknown. */
  movingFrames(): number {
    return this.#count(
      "select count(*) as count from frames c where status in ('ready', 'stepping') " +
        `or (status = 'waiting' and not ${IN_DOUBT})`,
    );
  }

  /** Everything, at one moment. */
  contents(): LedgerContents {
    this.#database.exec("begin");
    try {
      return {
        digestKey: this.#database.prepare("select value from meta where name = 'digest-key'").get()?.[
          "value"
        ] as Uint8Array,
        sessions: this.#rows("select key, app, id from sessions") as unknown as LedgerContents["sessions"],
        calls: this.#rows(
          "select id, session, tool, status, attempt, repeatable, result from calls order by id",
        ).map(toCall),
        frames: this.#rows("select id, session, status from frames order by id") as unknown as FrameRow[],
        confirmations: this.#rows(
          "select id, call, status from confirmations",
        ) as unknown as ConfirmationRow[],
        journal: this.#rows("select seq, stream, n, kind, body from journal order by seq").map(toJournal),
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

function toCall(row: Row): CallRow {
  return {
    ...(row as unknown as CallRow),
    repeatable: row["repeatable"] === 1,
    result: row["result"] === null ? null : (JSON.parse(String(row["result"])) as JsonValue),
  };
}

function toJournal(row: Row): JournalRow {
  return { ...(row as unknown as JournalRow), body: JSON.parse(String(row["body"] ?? "{}")) as JsonObject };
}
