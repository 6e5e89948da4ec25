import { setTimeout } from "node:timers/promises";
import pg from "pg";
import {
  type ConfirmationRow,
  type FrameRow,
  type LedgerContents,
  type LedgerView,
  QUERIES,
  toCall,
  toJournal,
} from "./ledger-view.ts";

const IS_MADE =
  "select count(*) as count from pg_tables where schemaname = 'countersign' and tablename = 'journal'";
// Within one session positions are in the order of commits; across sessions they need not be.
const LAST_SEQ = "select coalesce(max(seq), 0) as count from journal where stream = ?";
const RETRY_MS = 50;
const BIGINT = 20;

type Row = Record<string, unknown>;

/** The view of a ledger in PostgreSQL. A server that is away is waited for. */
export class LedgerDatabase implements LedgerView {
  readonly #pool: pg.Pool;

  constructor(url: string) {
    const parse = pg.types.getTypeParser as (type: number) => unknown;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: 2,
      options: "-c search_path=countersign",
      allowExitOnIdle: true,
      types: {
        getTypeParser: (type: number) => (type === BIGINT ? Number : parse(type)),
      },
    });
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  async isMade(): Promise<boolean> {
    return (await this.#count(IS_MADE)) > 0;
  }

  lastSeq(call: string): Promise<number> {
    return this.#count(LAST_SEQ, call.slice(0, call.indexOf(".")));
  }

  async sessionIds(): Promise<ReadonlySet<string>> {
    return new Set((await this.#rows(QUERIES.sessionIds)).map(({ id }) => String(id)));
  }

  async framesOf(session: string): Promise<readonly FrameRow[]> {
    return (await this.#rows(QUERIES.framesOf, session)) as unknown as FrameRow[];
  }

  async framesOfSession(sessionId: string): Promise<readonly FrameRow[]> {
    const [session] = await this.#rows(QUERIES.sessionKey, sessionId);
    return session === undefined ? [] : this.framesOf(String(session["key"]));
  }

  async deadlineOf(confirmation: string): Promise<number> {
    const [row] = await this.#rows(QUERIES.deadline, confirmation);
    return Number(row?.["deadline"]);
  }

  moving(): Promise<number> {
    return this.#count(QUERIES.moving);
  }

  unsettled(): Promise<number> {
    return this.#count(QUERIES.unsettled);
  }

  unknownCalls(): Promise<number> {
    return this.#count(QUERIES.unknownCalls);
  }

  messageCount(): Promise<number> {
    return this.#count(QUERIES.messages);
  }

  contents(): Promise<LedgerContents> {
    return this.#patiently(async (client) => {
      await client.query("begin isolation level repeatable read read only");
      const rows = async (sql: string): Promise<Row[]> => (await client.query<Row>(sql)).rows;
      const [key] = await rows(QUERIES.digestKey);
      const contents = {
        digestKey: new Uint8Array(Buffer.from(String(key?.["value"]), "hex")),
        sessions: (await rows(QUERIES.sessions)) as unknown as LedgerContents["sessions"],
        calls: (await rows(QUERIES.calls)).map(toCall),
        frames: (await rows(QUERIES.frames)) as unknown as FrameRow[],
        confirmations: (await rows(QUERIES.confirmations)) as unknown as ConfirmationRow[],
        journal: (await rows(QUERIES.journal)).map(toJournal),
      };
      await client.query("commit");
      return contents;
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #count(sql: string, ...values: readonly string[]): Promise<number> {
    return Number((await this.#rows(sql, ...values))[0]?.["count"] ?? 0);
  }

  #rows(sql: string, ...values: readonly string[]): Promise<readonly Row[]> {
    let place = 0;
    const text = sql.replaceAll("?", () => `$${++place}`);
    return this.#patiently(async (client) => (await client.query<Row>(text, [...values])).rows);
  }

  async #patiently<T>(read: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (;;) {
      let client: pg.PoolClient | undefined;
      try {
        client = await this.#pool.connect();
        const found = await read(client);
        client.release();
        return found;
      } catch (error) {
        client?.release(true);
        if (!isAway(error)) throw error;
        await setTimeout(RETRY_MS);
      }
    }
  }
}

function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return /^(57P|08|ECONN|EPIPE)/.test(code) || /Connection terminated|not queryable/.test(error.message);
}
