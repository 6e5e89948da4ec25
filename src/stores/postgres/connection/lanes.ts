import type { ConnectionPool, PooledConnection, Query, QueryResult } from "./driver.ts";

// How many statements run on one connection before another one is used.
const DEPTH = 16;
// A connection that has not answered for this long may wait for a lock, or be gone: nothing else is queued behind it.
const STALLED_MS = 100;
// A connection that nobody used for this long goes back to the pool.
const KEPT_MS = 1_000;

/** A place on a connection, given back with `true` if the connection was lost. */
export interface Place extends Pick<PooledConnection, "query" | "release"> {
  /** The connection, which others may share. */
  readonly on: object;
}

/**
 * Connections on which statements follow each other without waiting for answers: many small ones cost few packets and
 * few wake-ups. They are done in the order in which they were sent, so nothing goes here that waits for the disk or
 * reads much; two thirds of the pool are left to that. A connection is kept for a moment after its last answer: taking it
 * out of the pool for each statement costs more than many a statement.
 */
export class Lanes {
  readonly #pool: ConnectionPool;
  readonly #most: number;
  readonly #lanes: Set<Lane> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(pool: ConnectionPool, size: number) {
    this.#pool = pool;
    this.#most = Math.floor(size / 3);
  }

  /** A place on a connection that is open; undefined where one has to be waited for. */
  placeNow(): Place | undefined {
    const now = performance.now();
    const lane = this.#withRoom(now);
    return lane?.connection === undefined ? undefined : this.#enter(lane, lane.connection, now);
  }

  /** Rejects where the pool has no connection to give. */
  async connect(): Promise<Place> {
    // The only connection there is could be kept for ever by those who share it.
    if (this.#most === 0) return toWhole(await this.#pool.connect());
    const now = performance.now();
    const lane = this.#withRoom(now) ?? (this.#lanes.size < this.#most ? this.#open(now) : this.#best(now));
    lane.underWay += 1;
    try {
      const connection = lane.connection ?? (await lane.connecting);
      lane.underWay -= 1;
      return this.#enter(lane, connection, performance.now());
    } catch (error) {
      lane.isLost = true;
      this.#leave(lane);
      throw error;
    }
  }

  /** Gives back the connections that nobody uses now. */
  giveBack(): void {
    for (const lane of this.#lanes) if (lane.underWay === 0) this.#release(lane);
  }

  /** From now on no connection is kept. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.giveBack();
  }

  /** Of those in use the least burdened, then one that is kept. */
  #withRoom(now: number): Lane | undefined {
    let best: Lane | undefined;
    let kept: Lane | undefined;
    for (const lane of this.#lanes) {
      if (lane.underWay === 0) kept = isOpen(lane) ? lane : this.#release(lane);
      else if (best === undefined || burdenOf(lane, now) < burdenOf(best, now)) best = lane;
    }
    return best !== undefined && burdenOf(best, now) < DEPTH ? best : kept;
  }

  #best(now: number): Lane {
    return [...this.#lanes].reduce((one, other) => (burdenOf(other, now) < burdenOf(one, now) ? other : one));
  }

  #open(now: number): Lane {
    const lane: Lane = {
      connecting: this.#pool.connect(),
      underWay: 0,
      answeredAt: now,
      isLost: false,
      isCorked: false,
    };
    this.#lanes.add(lane);
    return lane;
  }

  #enter(lane: Lane, connection: PooledConnection, now: number): Place {
    if (lane.connection === undefined) lane.connection = connection;
    else if (lane.underWay === 0) {
      connection.ref();
      lane.answeredAt = now;
    }
    lane.underWay += 1;
    return toPlace(lane, connection, () => this.#leave(lane));
  }

  #leave(lane: Lane): void {
    lane.underWay -= 1;
    lane.answeredAt = performance.now();
    if (lane.isLost) this.#lanes.delete(lane);
    if (lane.underWay > 0) return;
    if (lane.isLost || this.#isEnded) {
      this.#release(lane);
      return;
    }
    // It does not keep the process alive.
    lane.connection?.unref();
    this.#timer ??= setTimeout(() => this.#giveBackIdle(), KEPT_MS).unref();
  }

  #giveBackIdle(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const lane of this.#lanes) {
      if (lane.underWay > 0) continue;
      if (now - lane.answeredAt >= KEPT_MS) this.#release(lane);
      else this.#timer ??= setTimeout(() => this.#giveBackIdle(), KEPT_MS).unref();
    }
  }

  #release(lane: Lane): undefined {
    this.#lanes.delete(lane);
    lane.connecting.then(
      (connection) => connection.release(lane.isLost || !isOpen(lane)),
      () => {},
    );
  }
}

interface Lane {
  readonly connecting: Promise<PooledConnection>;
  /** Once it is there. */
  connection?: PooledConnection;
  underWay: number;
  /** When something was last answered, or the lane opened or used again. */
  answeredAt: number;
  isLost: boolean;
  isCorked: boolean;
}

function isOpen({ connection }: Lane): boolean {
  return connection === undefined || !connection.connection.stream.destroyed;
}

function burdenOf({ underWay, answeredAt }: Lane, now: number): number {
  return now - answeredAt > STALLED_MS ? Number.POSITIVE_INFINITY : underWay;
}

/** A connection that is shared with nobody. */
export function toWhole(connection: PooledConnection): Place {
  return {
    on: connection,
    query: (query) => connection.query(query),
    release: (isLost) => connection.release(isLost),
  };
}

function toPlace(lane: Lane, connection: PooledConnection, leave: () => void): Place {
  return {
    on: connection,
    query: (query: Query): Promise<QueryResult> => {
      cork(lane, connection);
      return connection.query(query);
    },
    release: (isLost = false) => {
      if (isLost) lane.isLost = true;
      leave();
    },
  };
}

/** What is sent within one turn of the event loop goes out together. */
function cork(lane: Lane, { connection: { stream } }: PooledConnection): void {
  if (lane.isCorked) return;
  lane.isCorked = true;
  stream.cork();
  setImmediate(() => {
    lane.isCorked = false;
    stream.uncork();
  });
}
