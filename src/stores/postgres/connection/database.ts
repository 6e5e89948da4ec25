import { setTimeout } from "node:timers/promises";
import type { LedgerStats } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import type { Driver, LoneConnection, PostgresValue, Query, QueryResult, Row } from "./driver.ts";
import type { Place } from "./lanes.ts";
import { isGone, isLockTimeout, isTransient, isUndefined, toLedgerError } from "./postgres-errors.ts";
import { Servers } from "./servers.ts";
import type { PostgresSettings } from "./settings.ts";
import { Statements } from "./statements.ts";

const BUSY_LIMIT_MS = 5_000;
const GONE_LIMIT_MS = 10_000;
const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;
const CLOSE_LIMIT_MS = 2_000;

/** How a statement is run. */
export interface RunOptions {
  /** False for one whose plan should know the values: it is not prepared. */
  readonly named?: boolean;
  /** False: a connection that is lost is an error at once. Usual on a standby, which the primary can stand in for. */
  readonly patient?: boolean;
  /** True for one that is small and does not wait for the disk: others may follow it on its connection. */
  readonly shared?: boolean;
  /** True: a lock that was waited for in vain is an error at once, and not waited for again. */
  readonly waitsOnce?: boolean;
  /** The connection was lost with the statement on it: it may have been done before it is sent again. */
  readonly onLost?: () => void;
}

/**
 * The connections, and the one place where statements are tried again. Every statement is a transaction of its own, so no
 * lock outlives its answer, whatever becomes of this process. One that is sent again because its answer was lost may
 * have been done: each is written so that doing it twice is as doing it once.
 */
export class Database {
  readonly name: string;
  readonly #settings: PostgresSettings;
  readonly #servers: Servers;
  readonly #statements: Statements;
  #sent = 0;
  #retries = 0;
  #reconnects = 0;
  #open = true;
  #refusal: Error | undefined;
  #whenUndefined: () => Promise<void> = async () => {};

  constructor(driver: Driver, settings: PostgresSettings) {
    this.name = settings.name;
    this.#settings = settings;
    this.#servers = new Servers(driver, settings);
    this.#statements = new Statements(settings.schema);
  }

  /** The ledger's schema. Channels are called so too. */
  get schema(): string {
    return this.#settings.schema;
  }

  /** What the pool and the one place that tries again have seen. */
  get stats(): LedgerStats {
    return {
      pool: this.#servers.stats,
      statements: this.#sent,
      retries: this.#retries,
      reconnects: this.#reconnects,
    };
  }

  /** Is what one statement leaves on a connection there for the next? Not where a pooler is in between. */
  get keepsSessions(): boolean {
    return !this.#settings.pooled;
  }

  /** How many rows the statement changed. */
  async run(text: string, values: readonly PostgresValue[] = [], options: RunOptions = {}): Promise<number> {
    return (await this.#send(text, values, options)).rowCount ?? 0;
  }

  async all(
    text: string,
    values: readonly PostgresValue[] = [],
    options: RunOptions = {},
  ): Promise<readonly Row[]> {
    return (await this.#send(text, values, options)).rows;
  }

  async get(
    text: string,
    values: readonly PostgresValue[] = [],
    options: RunOptions = {},
  ): Promise<Row | undefined> {
    return (await this.all(text, values, options))[0];
  }

  /** A connection of its own, not yet connected. `patient`: its statements may take as long as they take. */
  async loneConnection({ patient = false }: { readonly patient?: boolean } = {}): Promise<LoneConnection> {
    try {
      const connection = (await this.#servers.current()).lone({ patient });
      const send = connection.query.bind(connection);
      connection.query = (query) => send({ ...query, text: this.inSchema(query.text) });
      return connection;
    } catch (error) {
      throw toLedgerError(error, this.name);
    }
  }

  /** A text with the ledger's schema in place of the usual one; what is sent here is changed like this by itself. */
  inSchema(text: string): string {
    return this.#statements.inSchema(text);
  }

  /** A connection of its own was lost: another of the hosts may be the primary now. */
  async lost(): Promise<void> {
    await this.#servers.lost();
  }

  /** Waits for what is under way, but not for a server that does not answer. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    const timer = new AbortController();
    // Keeps the process until then: idle connections do not, and a caller that awaits this would wait forever.
    const late = setTimeout(CLOSE_LIMIT_MS, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([this.#servers.end().catch(() => {}), late]);
    timer.abort();
  }

  /** Called when the server does not know what a statement names; it may throw what is to be said instead. */
  onUndefined(listener: () => Promise<void>): void {
    this.#whenUndefined = listener;
  }

  /** From now on every statement is refused with this error. */
  refuse(error: Error): void {
    this.#refusal = error;
  }

  /** Throws `closed` once the ledger is closed, or why it must not be used. */
  assertOpen(): void {
    if (!this.#open) throw new CountersignError("closed", `The ledger "${this.name}" was closed.`);
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  async #send(written: string, values: readonly PostgresValue[], options: RunOptions): Promise<QueryResult> {
    const { text, name } = this.#statements.prepare(written);
    const isNamed = !this.#settings.pooled && options.named !== false;
    const query: Query = { text, values, rowMode: "array", ...(isNamed ? { name } : {}) };
    const startedAt = performance.now();
    let losses = 0;
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      this.assertOpen();
      try {
        return await this.#attempt(query, options);
      } catch (error) {
        losses += isGone(error) ? 1 : 0;
        if (isUndefined(error)) await this.#whenUndefined();
        this.#judge(error, { elapsedMs: performance.now() - startedAt, losses }, options);
        if (isGone(error)) await this.#servers.lost();
      }
      await setTimeout(pauseMs * (0.5 + Math.random()));
    }
  }

  async #attempt(query: Query, { onLost, shared = false }: RunOptions): Promise<QueryResult> {
    this.#sent += 1;
    const asked = this.#servers.ask();
    try {
      const place =
        (shared ? this.#servers.known?.sharedNow() : undefined) ??
        (await (await this.#servers.current()).connect(shared));
      asked.on = place.on;
      return await onPlace(place, query, onLost);
    } finally {
      this.#servers.answered(asked);
    }
  }

  /** Throws unless the statement may be tried again. */
  #judge(
    error: unknown,
    { elapsedMs, losses }: { readonly elapsedMs: number; readonly losses: number },
    { patient = !this.#settings.isStandby, waitsOnce = false }: RunOptions,
  ): void {
    this.assertOpen();
    if (isTransient(error)) {
      this.#retries += 1;
      if (elapsedMs < BUSY_LIMIT_MS && !(waitsOnce && isLockTimeout(error))) return;
      throw new CountersignError(
        "ledger-busy",
        `Timed out waiting for a lock on the ledger "${this.name}" (${Math.round(elapsedMs)} ms). Try again.`,
        { details: { ledger: this.name }, cause: error },
      );
    }
    if (isGone(error)) this.#reconnects += 1;
    if (isGone(error) && patient) {
      // However long the first one took to be lost, another connection is tried.
      if (elapsedMs < GONE_LIMIT_MS || losses === 1) return;
    }
    throw toLedgerError(error, this.name);
  }
}

async function onPlace(place: Place, query: Query, onLost: (() => void) | undefined): Promise<QueryResult> {
  let gone = false;
  try {
    return await place.query(query);
  } catch (error) {
    gone = isGone(error);
    if (gone) onLost?.();
    throw error;
  } finally {
    place.release(gone);
  }
}
