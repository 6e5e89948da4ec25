import { DatabaseSync } from "node:sqlite";
import { CountersignError } from "../../../protocol/index.ts";
import type { Driver, Row, SqlValue, Statement } from "./driver.ts";
import { makePrivate } from "./private-files.ts";
import { isBusy, toLedgerError } from "./sqlite-errors.ts";

/** The path of a database that lives and dies with its handle. */
export const MEMORY_PATH = ":memory:";

const BUSY_LIMIT_MS = 5_000;
const SHORTEST_PAUSE_MS = 0.2;
const LONGEST_PAUSE_MS = 2;
const CACHE_KIB = 65_536;
const CHECKPOINT_PAGES = 8_000;
const TRUNCATE_LOG = "pragma wal_checkpoint(truncate)";

/** How a connection behaves. */
export interface DatabaseOptions {
  readonly path: string;
  /** Every commit is on disk before it is acknowledged. */
  readonly alwaysSync?: boolean;
  /** How long a lock held elsewhere is waited for. */
  readonly busyLimitMs?: number;
}

type Attempt<T> = { readonly value: T } | "busy";

/**
 * One connection. Statements are prepared once. A lock held elsewhere is waited for without blocking the
 * event loop: SQLite's own busy handler freezes the process and starves some writers for seconds.
 */
export class Database {
  readonly path: string;
  readonly #driver: Driver;
  readonly #statements: Map<string, Statement> = new Map();
  readonly #alwaysSync: boolean;
  readonly #busyLimitMs: number;
  #syncing = false;
  #open = true;

  constructor(driver: Driver, options: DatabaseOptions) {
    this.#driver = driver;
    this.path = options.path;
    this.#alwaysSync = options.alwaysSync ?? false;
    this.#busyLimitMs = options.busyLimitMs ?? BUSY_LIMIT_MS;
  }

  /** Every statement prepared so far. */
  get statements(): readonly string[] {
    return [...this.#statements.keys()];
  }

  /** How many rows the statement changed. */
  run(sql: string, values: readonly SqlValue[] = []): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  get(sql: string, values: readonly SqlValue[] = []): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** Row by row: a caller that stops early has not read the rest. */
  *iterate(sql: string, values: readonly SqlValue[]): Generator<Row> {
    for (const row of this.#prepared(sql).iterate(...values)) yield row as Row;
  }

  /** For statements that cannot be prepared: pragmas and schema changes. */
  exec(sql: string): void {
    this.#driver.exec(sql);
  }

  /** One statement needs no transaction. Even in WAL mode a recovery elsewhere can lock it out. */
  read<T>(body: () => T): Promise<T> {
    return this.#untilFree(() => this.#guarded(body));
  }

  /** Reads in one transaction: all statements of `body` see the same moment, whatever others commit meanwhile. */
  readTogether<T>(body: () => T): Promise<T> {
    return this.read(() => {
      this.#prepared("begin").run();
      const value = body();
      this.#prepared("commit").run();
      return value;
    });
  }

  /**
   * Runs `body` in a write transaction and keeps what it did if `keep` says so. `body` is synchronous, so that
   * nothing is awaited while the lock is held, and may run again when the lock was lost.
   */
  write<T>(sync: boolean, body: (driver: Driver) => T, keep: (value: T) => boolean = () => true): Promise<T> {
    return this.#untilFree(() => {
      this.#setSync(sync || this.#alwaysSync);
      return this.#guarded(() => {
        this.#prepared("begin immediate").run();
        const value = body(this.#driver);
        this.#prepared(keep(value) ? "commit" : "rollback").run();
        return value;
      });
    });
  }

  /**
   * Moves the log into the file and empties it: it holds what rows were, also of those that are erased by now. Rejects
   * with `ledger-busy` if others read or write all the while.
   */
  async truncateLog(): Promise<void> {
    if (this.path === MEMORY_PATH) return;
    await this.#untilFree(() => {
      const attempt = this.#guarded(() => this.get(TRUNCATE_LOG)?.[0] === 0);
      return attempt === "busy" || attempt.value ? attempt : "busy";
    });
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    this.#driver.close();
  }

  // As a prepared statement it does nothing the first time, inside a transaction it throws.
  #setSync(wanted: boolean): void {
    if (wanted === this.#syncing || this.path === MEMORY_PATH) return;
    this.#driver.exec(wanted ? "pragma synchronous = full" : "pragma synchronous = normal");
    this.#syncing = wanted;
  }

  #guarded<T>(body: () => T): Attempt<T> {
    try {
      return { value: body() };
    } catch (error) {
      if (this.#driver.isTransaction) this.#driver.exec("rollback");
      if (isBusy(error)) return "busy";
      throw toLedgerError(error, this.path);
    }
  }

  async #untilFree<T>(attempt: () => Attempt<T>): Promise<T> {
    this.assertOpen();
    const outcome = attempt();
    return outcome === "busy" ? this.#tryAgain(attempt) : outcome.value;
  }

  async #tryAgain<T>(attempt: () => Attempt<T>): Promise<T> {
    const giveUpAt = performance.now() + this.#busyLimitMs;
    while (performance.now() < giveUpAt) {
      await pause();
      this.assertOpen();
      const outcome = attempt();
      if (outcome !== "busy") return outcome.value;
    }
    throw new CountersignError(
      "ledger-busy",
      `Timed out waiting for a lock on the ledger "${this.path}" (${this.#busyLimitMs} ms). Try again.`,
      { details: { path: this.path } },
    );
  }

  #prepared(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#driver.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Throws `closed` once the connection is closed. */
  assertOpen(): void {
    if (!this.#open) throw new CountersignError("closed", `The ledger "${this.path}" was closed.`);
  }
}

/** Opens the file, or makes it, and sets the connection up; migrations make the schema. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { path } = options;
  if (path !== MEMORY_PATH) makePrivate(path);
  let driver: Driver;
  try {
    // No busy handler: see the class.
    driver = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
  } catch (error) {
    throw toLedgerError(error, path);
  }
  const database = new Database(driver, options);
  try {
    await database.read(() => configure(database));
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

function configure(database: Database): void {
  // What is erased is overwritten: else it could be read in the file for as long as nothing else took its place.
  database.exec(`pragma cache_size = -${CACHE_KIB}; pragma temp_store = memory; pragma secure_delete = on`);
  if (database.path === MEMORY_PATH) return;
  database.exec("pragma journal_mode = wal; pragma synchronous = normal");
  database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

// Not the injected clock: this waits for other processes, whose time nobody moves by hand.
function pause(): Promise<void> {
  const ms = SHORTEST_PAUSE_MS + Math.random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
