import { setTimeout } from "node:timers/promises";
import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { KINDS } from "../crash/life.ts";
import { Lives, PATIENCE_MS } from "../crash/lives.ts";
import { TcpProxy } from "../support/http/tcp-proxy.ts";
import { databaseName, execute, type PostgresServer } from "../support/postgres/server.ts";
import { Random } from "../support/random.ts";
import type { Resources } from "../support/resources.ts";
import { BLOWS, type Blow, LEASE, LONG_LEASE, Replica } from "./replica.ts";

export const REPLICAS = 3;

const SESSIONS_PER_ROUND = 2;
// Their clocks are a minute off, in both directions; only the database's counts.
const SKEWS_MS = [0, 60_000, -60_000] as const;
const QUARREL_SHARE = 0.4;
/** One round in so many strikes the database. */
const ROUNDS_PER_RESTART = 16;

const LAST_STRIKES = 5;
const LONGEST_WORK_MS = 400;

/** How a cluster is set up. */
export interface ClusterOptions {
  readonly seed: number;
  /** How its database comes to be restarted. */
  readonly restart: Parameters<PostgresServer["restart"]>[0];
  readonly durability?: "full";
}

/** What a round did. */
export type Strike = Blow | "restart";

/** Three replicas on one database, each behind a line of its own. */
export class Cluster {
  readonly lives: Lives;
  readonly #restartServer: () => Promise<void>;
  readonly #replicas: readonly Replica[];
  readonly #struck = new Map<Strike, number>();
  #restarting: Promise<void> | undefined;

  private constructor(lives: Lives, replicas: readonly Replica[], restart: () => Promise<void>) {
    this.#restartServer = restart;
    this.lives = lives;
    this.#replicas = replicas;
  }

  static async start(
    resources: Resources,
    server: PostgresServer,
    { seed, restart, durability }: ClusterOptions,
  ): Promise<Cluster> {
    const name = databaseName();
    await execute(server.url("postgres"), `create database ${name}`);
    resources.add(() => execute(server.url("postgres"), `drop database ${name} with (force)`));
    await migratePostgres(server.url(name));
    const lives = await Lives.begin(resources, { seed, kinds: KINDS, ledger: server.url(name) });
    lives.addSessions(KINDS.length);
    const told = {
      settle: false,
      quarrel: QUARREL_SHARE,
      lease: LEASE,
      watch: true,
      ...(durability === undefined ? {} : { durability }),
    };
    const replicas: Replica[] = [];
    for (const [index, skewMs] of SKEWS_MS.entries()) {
      const proxy = await TcpProxy.to(server.port);
      resources.add(() => proxy.close());
      // One gives up silent connections before the network comes back, the others wait for it.
      const through = `${proxy.through(server.url(name))}${index === 2 ? "?query_timeout=400" : ""}`;
      const share = { index, of: REPLICAS };
      replicas.push(new Replica(lives, proxy, { ...told, share, through, skewMs }));
    }
    return new Cluster(lives, replicas, () => server.restart(restart));
  }

  /** How often each kind of strike was struck. */
  get struck(): ReadonlyMap<Strike, number> {
    return this.#struck;
  }

  /** So many rounds, each a blow against one replica, all replicas at the same time. `after` follows each. */
  async rounds(count: number, seed: number, after: () => Promise<void>): Promise<void> {
    let left = count;
    await Promise.all(
      this.#replicas.map(async (replica, index) => {
        const random = new Random(seed * REPLICAS + index);
        while (left > 0) {
          left -= 1;
          this.#more();
          const isRestart = left % ROUNDS_PER_RESTART === ROUNDS_PER_RESTART / 2;
          const strike = isRestart ? "restart" : (BLOWS[random.below(BLOWS.length)] ?? "kill");
          this.#struck.set(strike, (this.#struck.get(strike) ?? 0) + 1);
          await (strike === "restart" ? this.#restart() : replica.suffer(strike, random));
          await after();
        }
      }),
    );
  }

  /**
   * Strikes the database and nobody else, amid work, a few times. It is back within a lease, and each replica goes on
   * with other work: what the database lost, nobody takes over from it. The replica itself has to notice.
   */
  async lastStrikes(seed: number): Promise<void> {
    const random = new Random(seed);
    await Promise.all(this.#replicas.map((replica) => replica.begin({ lease: LONG_LEASE })));
    for (let strike = 0; strike < LAST_STRIKES; strike += 1) {
      this.#more();
      await setTimeout(random.fraction() * LONGEST_WORK_MS);
      await this.#restart();
    }
  }

  /** Strikes no more; resolves when the replicas themselves have done what could be done, true if that was in time. */
  async rest(): Promise<boolean> {
    const sessions = this.#more();
    const timer = new AbortController();
    const late = setTimeout(PATIENCE_MS, false, { signal: timer.signal }).catch(() => false);
    const done = Promise.all(this.#replicas.map((replica) => replica.done(sessions))).then(() => true);
    try {
      return await Promise.race([done, late]);
    } finally {
      timer.abort();
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.end()));
  }

  #more(): number {
    const sessions = this.lives.addSessions(SESSIONS_PER_ROUND);
    for (const replica of this.#replicas) replica.tell(sessions);
    return sessions;
  }

  #restart(): Promise<void> {
    this.#restarting ??= this.#restartServer().finally(() => {
      this.#restarting = undefined;
    });
    return this.#restarting;
  }
}
