import type { LedgerStats } from "../../../engine/index.ts";
import type { ConnectionPool, ConnectionSettings, Driver, LoneConnection } from "./driver.ts";
import { Lanes, type Place, toWhole } from "./lanes.ts";
import type { PostgresSettings } from "./settings.ts";

const IDLE_MS = 30_000;

/** One connection, from the moment it is dialled until it has ended. */
export interface Made {
  readonly connection: LoneConnection;
  readonly dialledAt: number;
}

/** The connections to one server: a pool, and those outside it. All are dropped when another server becomes the primary. */
export class Connections {
  readonly host: ConnectionSettings;
  readonly #driver: Driver;
  readonly #pool: ConnectionPool;
  readonly #lanes: Lanes | undefined;
  readonly #size: number;
  readonly #made: Set<Made> = new Set();
  #isGivenUp = false;

  constructor(driver: Driver, settings: PostgresSettings, host: ConnectionSettings) {
    this.host = host;
    this.#driver = driver;
    this.#size = settings.pool;
    // A pooler in between would have to give one of its connections to each statement.
    const pipeline = driver.canPipeline && !settings.pooled;
    this.#pool = new driver.Pool({
      ...host,
      pipeline,
      max: settings.pool,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
      Client: this.#tracked(),
    });
    this.#lanes = pipeline ? new Lanes(this.#pool, settings.pool) : undefined;
    // A statement on a lost connection gets the error too; an idle connection is simply replaced.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (connection) => connection.on("error", () => {}));
  }

  get stats(): LedgerStats["pool"] {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { size: this.#size, open, idle, waiting };
  }

  /** Those that are open, or being dialled. */
  get made(): Iterable<Made> {
    return this.#made;
  }

  /** A place on a shared connection, where there is one at once. */
  sharedNow(): Place | undefined {
    return this.#lanes?.placeNow();
  }

  /** `shared`: others may follow on the same connection. */
  async connect(shared: boolean): Promise<Place> {
    if (shared && this.#lanes !== undefined) return this.#lanes.connect();
    const { idleCount, totalCount } = this.#pool;
    if (idleCount === 0 && totalCount >= this.#size) this.#lanes?.giveBack();
    return toWhole(await this.#pool.connect());
  }

  /** One outside the pool, not yet connected. `patient`: its statements may take as long as they take. */
  lone({ patient }: { readonly patient: boolean }): LoneConnection {
    const connection = new this.#driver.Client(patient ? { ...this.host, query_timeout: 0 } : this.host);
    this.#track(connection);
    return connection;
  }

  /** Callers with a statement on a connection, or that wait for one, are told that it was lost. */
  giveUp(): void {
    this.#isGivenUp = true;
    for (const { connection } of this.#made) connection.connection.stream.destroy();
  }

  end(): Promise<void> {
    this.#lanes?.end();
    return this.#pool.end();
  }

  #track(connection: LoneConnection): void {
    const made = { connection, dialledAt: performance.now() };
    this.#made.add(made);
    connection.on("end", () => this.#made.delete(made));
  }

  #tracked(): Driver["Client"] {
    const track = (connection: LoneConnection): void => this.#track(connection);
    const isGivenUp = (): boolean => this.#isGivenUp;
    return class extends this.#driver.Client {
      constructor(settings: ConnectionSettings) {
        super(settings);
        track(this);
      }

      override connect(done?: (error?: Error) => void): Promise<unknown> {
        if (!isGivenUp() || done === undefined) return super.connect(done);
        // The pool dials once more for each that waits.
        this.connection.stream.destroy();
        setImmediate(done, new Error("Connection terminated: another server is asked now"));
        return Promise.resolve();
      }
    };
  }
}
