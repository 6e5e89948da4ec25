import type { ConnectionPool, PooledConnection, Query, QueryResult } from "./driver.ts";

// How many statements run on one connection before another one is used.
const DEPTH = 16;
// A connection that has not answered for this long may wait for a lock, or be gone: nothing else is queued behind it.
const STALLED_MS = 100;

/** A place on a connection, given back with `true` if the connection was lost. */
export interface Place extends Pick<PooledConnection, "query" | "release"> {
  /** The connection, which others may share. */
  readonly on: object;
}

/**
 * Connections on which statements follow each other without waiting for answers: many small ones cost few packets and
 * few wake-ups. They are done in the order in which they were sent, so nothing goes here that waits for the disk or
 * reads much; two thirds of the pool are left to that. A connection goes back to the pool when nothing is under way on it.
 */
export class Lanes {
  readonly #pool: ConnectionPool;
  readonly #most: number;
  readonly #lanes: Set<Lane> = new Set();

  constructor(pool: ConnectionPool, size: number) {
    this.#pool = pool;
    this.#most = Math.floor(size / 3);
  }

  /** Rejects where the pool has no connection to give. */
  async connect(): Promise<Place> {
    // The only connection there is could be kept for ever by those who share it.
    if (this.#most === 0) return toWhole(await this.#pool.connect());
    const lane = this.#choose();
    lane.underWay += 1;
    try {
      return toPlace(lane, await lane.connection, () => this.#leave(lane));
    } catch (error) {
      lane.isLost = true;
      this.#leave(lane);
      throw error;
    }
  }

  #choose(): Lane {
    const now = performance.now();
    let best: Lane | undefined;
    for (const lane of this.#lanes) {
      if (best === undefined || burdenOf(lane, now) < burdenOf(best, now)) best = lane;
    }
    const isFree = best !== undefined && burdenOf(best, now) < DEPTH;
    return best === undefined || (!isFree && this.#lanes.size < this.#most) ? this.#open(now) : best;
  }

  #open(now: number): Lane {
    const lane: Lane = {
      connection: this.#pool.connect(),
      underWay: 0,
      answeredAt: now,
      isLost: false,
      isCorked: false,
    };
    this.#lanes.add(lane);
    return lane;
  }

  #leave(lane: Lane): void {
    lane.underWay -= 1;
    lane.answeredAt = performance.now();
    if (lane.isLost || lane.underWay === 0) this.#lanes.delete(lane);
    if (lane.underWay > 0) return;
    lane.connection.then(
      (connection) => connection.release(lane.isLost),
      () => {},
    );
  }
}

interface Lane {
  readonly connection: Promise<PooledConnection>;
  underWay: number;
  /** When something was last answered, or the lane opened. */
  answeredAt: number;
  isLost: boolean;
  isCorked: boolean;
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
