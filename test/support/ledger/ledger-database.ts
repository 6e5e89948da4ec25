import { setTimeout } from "node:timers/promises";
import pg from "pg";
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

const IS_MADE =
  "select count(*) as count from pg_tables where schemaname = 'countersign' and tablename = 'log'";
// Within one session positions are in the order of commits; across sessions they need not be.
const LAST_SEQ = "select coalesce(max(seq), 0) as count from log where session = ?";
const RETRY_MS = 50;
const BIGINT = 20;

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

  async lastSeq(call: string): Promise<number> {
    return endOf(await this.#count(LAST_SEQ, call.slice(0, call.indexOf("."))));
  }

  async sessionIds(): Promise<ReadonlySet<string>> {
    const others = (await this.#documents()).filter(({ app }) => app !== `gate:${WATCH}`);
    return new Set(others.map(({ id }) => id));
  }

  framesOf(session: string): Promise<readonly FrameRow[]> {
    return this.#together((rows) => readFrames(rows, QUERIES.document, session));
  }

  framesOfSession(sessionId: string): Promise<readonly FrameRow[]> {
    return this.#together((rows) => readFrames(rows, QUERIES.documentByName, sessionId));
  }

  async deadlineOf(confirmation: string): Promise<number> {
    const all = (await this.#documents()).flatMap(({ confirmations }) => confirmations);
    return Number(all.find(({ id }) => id === confirmation)?.expiresAt);
  }

  async moving(): Promise<number> {
    return countOpen(await this.#documents(), { settle: false });
  }

  async unsettled(): Promise<number> {
    return countOpen(await this.#documents(), { settle: true });
  }

  async unknownCalls(): Promise<number> {
    return countUnknown(await this.#documents());
  }

  async messageCount(): Promise<number> {
    return (await this.#together((rows) => readFrames(rows, QUERIES.documents))).length;
  }

  async journalOf(call: string): Promise<readonly JournalRow[]> {
    return (await this.#rows(QUERIES.sessionLog, call.slice(0, call.indexOf(".")))).flatMap(toJournal);
  }

  contents(): Promise<LedgerContents> {
    return this.#together(async (rows) => {
      const [key] = await rows(QUERIES.digestKey);
      const digestKey = new Uint8Array(Buffer.from(String(key?.["value"]), "hex"));
      const documents = (await rows(QUERIES.documents)).map(toDocument);
      return toContents(digestKey, documents, await rows(QUERIES.log));
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #documents(): Promise<readonly DocumentRow[]> {
    return (await this.#rows(QUERIES.documents)).map(toDocument);
  }

  /** What is read in it is of the same moment. */
  #together<T>(read: (rows: ReadRows) => Promise<T>): Promise<T> {
    return this.#patiently(async (client) => {
      await client.query("begin isolation level repeatable read read only");
      const found = await read(
        async (sql, ...values) => (await client.query<Row>(numbered(sql), values)).rows,
      );
      await client.query("commit");
      return found;
    });
  }

  async #count(sql: string, ...values: readonly string[]): Promise<number> {
    return Number((await this.#rows(sql, ...values))[0]?.["count"] ?? 0);
  }

  #rows(sql: string, ...values: readonly string[]): Promise<readonly Row[]> {
    return this.#patiently(async (client) => (await client.query<Row>(numbered(sql), [...values])).rows);
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

type ReadRows = (sql: string, ...values: string[]) => Promise<readonly Row[]>;

async function readFrames(rows: ReadRows, sql: string, ...values: string[]): Promise<readonly FrameRow[]> {
  const frames: FrameRow[] = [];
  for (const document of (await rows(sql, ...values)).map(toDocument))
    frames.push(...framesOf(document, await rows(QUERIES.sessionLog, document.key)));
  return frames;
}

function numbered(sql: string): string {
  let place = 0;
  return sql.replaceAll("?", () => `$${++place}`);
}

function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return /^(57P|08|ECONN|EPIPE)/.test(code) || /Connection terminated|not queryable/.test(error.message);
}
