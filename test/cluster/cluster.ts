import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { KINDS } from "../crash/life.ts";
import { Lives } from "../crash/lives.ts";
import { databaseName, execute, type PostgresServer } from "../support/postgres.ts";
import { Random } from "../support/random.ts";
import type { Resources } from "../support/resources.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { BLOWS, LEASE, Replica } from "./replica.ts";

export const REPLICAS = 3;

const SESSIONS_PER_ROUND = 2;
// Their clocks are a minute off, in both directions; only the database's counts.
const SKEWS_MS = [0, 60_000, -60_000] as const;
const RESTART_CHANCE = 0.04;

/** How a cluster is set up. */
export interface ClusterOptions {
  readonly seed: number;
  /** How its database comes to be restarted. */
  readonly restart: Parameters<PostgresServer["restart"]>[0];
  readonly durability?: "full";
}

/** Three replicas on one database, each behind a line of its own. */
export class Cluster {
  readonly lives: Lives;
  readonly #restartServer: () => Promise<void>;
  readonly #replicas: readonly Replica[];
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
    await migratePostgres(server.url(name));
    const lives = await Lives.begin(resources, { seed, kinds: KINDS, ledger: server.url(name) });
    lives.addSessions(KINDS.length);
    const told = { settle: false, lease: LEASE, ...(durability === undefined ? {} : { durability }) };
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

  /** So many rounds, each a blow against one replica, all replicas at the same time. `after` follows each. */
  async rounds(count: number, seed: number, after: () => Promise<void>): Promise<void> {
    let left = count;
    await Promise.all(
      this.#replicas.map(async (replica, index) => {
        const random = new Random(seed + index);
        while (left > 0) {
          left -= 1;
          this.#more();
          if (random.chance(RESTART_CHANCE)) await this.#restart();
          else await replica.suffer(BLOWS[random.below(BLOWS.length)] ?? "kill", random);
          await after();
        }
      }),
    );
  }

  async end(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.end()));
  }

  #more(): void {
    const sessions = this.lives.addSessions(SESSIONS_PER_ROUND);
    for (const replica of this.#replicas) replica.tell(sessions);
  }

  #restart(): Promise<void> {
    this.#restarting ??= this.#restartServer().finally(() => {
      this.#restarting = undefined;
    });
    return this.#restarting;
  }
}
