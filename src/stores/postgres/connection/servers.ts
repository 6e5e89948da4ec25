import { setImmediate, setTimeout } from "node:timers/promises";
import { Connections, type Made } from "./connections.ts";
import type { Driver } from "./driver.ts";
import { findPrimary, type Look } from "./primary.ts";
import type { PostgresSettings } from "./settings.ts";

/** A new connection gets an answer within the first, or, where looks fail, within the next. */
const LOOK_LIMITS_MS = [700, 1_400, 2_800, 5_000] as const;
/** A server that has not answered for this long is checked. */
const SILENT_MS = 300;
const TICK_MS = 100;
/** Servers that were found well are not asked again before. */
const WELL_MS = 1_000;

/** Something that was asked and is not answered yet. */
export interface Asked {
  readonly at: number;
  /** The connection it was asked on, once there is one. */
  on?: object;
}

/**
 * Which server is asked, and whether its connections are alive. A dead connection does not say so: it is silent, as one
 * whose statement waits for a lock is. So when something was not answered for a moment, a new connection is made, which
 * finds the primary among the hosts and asks it which of our connections it knows. Those that it does not know, or on
 * which it waits for us while we wait for it and nothing arrives, are dropped, and their statements are sent again.
 */
export class Servers {
  readonly #driver: Driver;
  readonly #settings: PostgresSettings;
  /** Oldest first. */
  readonly #asked: Set<Asked> = new Set();
  #current: Connections | undefined;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failedLooks = 0;
  #nextLookAt = 0;

  constructor(driver: Driver, settings: PostgresSettings) {
    this.#driver = driver;
    this.#settings = settings;
    const [only, ...others] = settings.hosts;
    if (others.length === 0) this.#current = new Connections(driver, settings, only);
  }

  get stats(): Connections["stats"] {
    return this.#current?.stats ?? { size: this.#settings.pool, open: 0, idle: 0, waiting: 0 };
  }

  /** The connections to the server that was the primary when it was last looked for. */
  get known(): Connections | undefined {
    return this.#current;
  }

  /** The connections to the primary. Rejects where none is found. */
  async current(): Promise<Connections> {
    if (this.#current === undefined) await this.#look();
    if (this.#current === undefined) throw new Error("Connection terminated: no server was found");
    return this.#current;
  }

  /** From now on an answer is waited for; call what this returns when it has come. */
  ask(): Asked {
    const asked: Asked = { at: performance.now() };
    this.#asked.add(asked);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return asked;
  }

  answered(asked: Asked): void {
    this.#asked.delete(asked);
  }

  /** A connection was lost: another of the hosts may be the primary now. */
  async lost(): Promise<void> {
    if (this.#settings.hosts.length > 1) await this.#look().catch(() => {});
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#current?.end();
  }

  #tick(): void {
    const [oldest] = this.#asked;
    if (oldest === undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    if (now - oldest.at < SILENT_MS || now < this.#nextLookAt) return;
    this.#look().catch(() => {});
  }

  /** One look at a time, for everybody who wants one. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const startedAt = performance.now();
    const limitMs = LOOK_LIMITS_MS[Math.min(this.#failedLooks, LOOK_LIMITS_MS.length - 1)] ?? 0;
    this.#failedLooks += 1;
    const pids = [...(this.#current?.made ?? [])].flatMap(({ connection }) => connection.processID ?? []);
    const { hosts, isStandby: any } = this.#settings;
    const look = await findPrimary(this.#driver, hosts, { pids, limitMs, any });
    this.#failedLooks = 0;
    this.#nextLookAt = performance.now() + WELL_MS;
    const before = this.#current;
    if (look.host === before?.host) {
      giveUp(this.#unknown(before, look, { startedAt, pids }));
      giveUp(await stillSilent(this.#idle(before, look, startedAt)));
      return;
    }
    this.#current = new Connections(this.#driver, this.#settings, look.host);
    before?.giveUp();
  }

  /** The connections that the server does not know. */
  #unknown(
    connections: Connections,
    { known, canTell }: Look,
    { startedAt, pids }: { readonly startedAt: number; readonly pids: readonly number[] },
  ): readonly Made[] {
    return [...connections.made].filter(({ connection, dialledAt }) => {
      // The new one was dialled later and is through.
      if (connection.processID === null) return dialledAt < startedAt - SILENT_MS;
      return canTell && pids.includes(connection.processID) && !known.has(connection.processID);
    });
  }

  /** Those on which the server waits for us while we wait for it. */
  #idle(connections: Connections, { known, canTell }: Look, startedAt: number): readonly Made[] {
    if (!canTell) return [];
    const silent = new Set([...this.#asked].filter(({ at }) => at < startedAt - TICK_MS).map(({ on }) => on));
    return [...connections.made].filter(
      ({ connection, dialledAt }) =>
        silent.has(connection) &&
        dialledAt <= startedAt &&
        connection.processID !== null &&
        known.get(connection.processID),
    );
  }
}

/**
 * The answer may be on its way, or be here unread while this process is busy: then bytes arrive. Or the server waits for
 * the rest of a large statement: then some of it is still to be sent.
 */
async function stillSilent(idle: readonly Made[]): Promise<readonly Made[]> {
  if (idle.length === 0) return [];
  const before = idle.map(bytesRead);
  await setTimeout(TICK_MS);
  // After a time in which the process was busy, timers run before sockets are read, and this after both.
  await setImmediate();
  return idle.filter((made, i) => isSent(made) && bytesRead(made) === before[i]);
}

function bytesRead({ connection }: Made): number {
  return connection.connection.stream.bytesRead;
}

function isSent({ connection }: Made): boolean {
  return connection.connection.stream.writableLength === 0;
}

function giveUp(dead: readonly Made[]): void {
  for (const { connection } of dead) connection.connection.stream.destroy();
}
