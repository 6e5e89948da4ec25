import { setTimeout } from "node:timers/promises";
import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { KINDS, type LifeLine } from "../crash/life.ts";
import { Lives } from "../crash/lives.ts";
import { TcpProxy } from "../support/http/tcp-proxy.ts";
import { databaseName } from "../support/postgres/server.ts";
import type { Child } from "../support/processes/child.ts";
import type { Random } from "../support/random.ts";
import type { Resources } from "../support/resources.ts";
import { DelayedLine } from "./delayed-line.ts";
import { Server } from "./server.ts";

export const REPLICAS = 3;
const SESSIONS_PER_ROUND = 10;
const SHORTEST_WORK_MS = 150;
const WORK_SPREAD_MS = 350;
const REST_LIMIT_MS = 60_000;
/** A promoted server may take no claims for one lease: the next blow comes when work has begun again. */
const LEASE = { leaseMs: 5_000, heartbeatMs: 200 } as const;

/** What becomes of the database when its server is killed. */
export interface World {
  readonly title: string;
  /** Undefined: the same server comes back. */
  readonly standby?: {
    readonly synchronous: boolean;
    /** How far it is behind when the primary is killed. */
    readonly behindMs: number;
  };
}

/** How clients learn that the server is gone: their connections break, or never say anything again. */
export type Loss = "cut" | "silent";

/** Replicas that live, and a database that is killed under them, again and again. */
export class FailoverCluster {
  readonly lives: Lives;
  readonly #world: World;
  readonly #line: DelayedLine;
  readonly #proxies: readonly TcpProxy[];
  readonly #replicas: readonly Child<LifeLine>[];
  #primary: Server;
  #spare: Server;

  private constructor(parts: {
    readonly lives: Lives;
    readonly world: World;
    readonly line: DelayedLine;
    readonly proxies: readonly TcpProxy[];
    readonly replicas: readonly Child<LifeLine>[];
    readonly servers: readonly [Server, Server];
  }) {
    this.lives = parts.lives;
    this.#world = parts.world;
    this.#line = parts.line;
    this.#proxies = parts.proxies;
    this.#replicas = parts.replicas;
    [this.#primary, this.#spare] = parts.servers;
  }

  static async start(
    resources: Resources,
    { world, seed }: { readonly world: World; readonly seed: number },
  ): Promise<FailoverCluster> {
    const [primary, spare] = [await Server.prepare(resources), await Server.prepare(resources)];
    const line = await DelayedLine.to(primary.port, world.standby?.behindMs ?? 0);
    resources.add(() => line.close());
    await primary.init();
    const database = databaseName();
    await primary.ask(`create database ${database}`);
    await migratePostgres(primary.url(database));
    // One for whoever looks from outside, and one for each of two replicas. The third replica knows both servers.
    const proxies: TcpProxy[] = [];
    for (let i = 0; i < REPLICAS; i++) {
      const proxy = await TcpProxy.to(primary.port);
      resources.add(() => proxy.close());
      proxies.push(proxy);
    }
    const [ledger = "", ...through] = proxies.map((proxy) => proxy.through(primary.url(database)));
    through.push(`postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${spare.port}/${database}`);
    const lives = await Lives.begin(resources, { seed, kinds: KINDS, ledger });
    lives.addSessions(KINDS.length);
    const replicas = through.map((url, index) =>
      lives.start({
        settle: false,
        watch: true,
        lease: LEASE,
        share: { index, of: REPLICAS },
        through: url,
      }),
    );
    const servers = [primary, spare] as const;
    const cluster = new FailoverCluster({ lives, world, line, proxies, replicas, servers });
    await Promise.all(replicas.map((replica) => replica.line("ready")));
    await cluster.#follow();
    return cluster;
  }

  /** Work, and amid it the server is killed; ends when another one serves and has a standby. */
  async round(random: Random, loss: Loss): Promise<void> {
    this.#more();
    await setTimeout(SHORTEST_WORK_MS + random.fraction() * WORK_SPREAD_MS);
    const [eyes, ...lines] = this.#proxies;
    if (loss === "silent") for (const line of lines) line.freeze();
    const killed = this.#primary.kill();
    this.#line.cut();
    await killed;
    eyes?.cut();
    if (loss === "cut") for (const line of lines) line.cut();
    if (this.#world.standby === undefined) await this.#primary.start();
    else {
      await this.#spare.promote();
      [this.#primary, this.#spare] = [this.#spare, this.#primary];
    }
    for (const proxy of this.#proxies) proxy.pointTo(this.#primary.port);
    if (loss === "silent") for (const line of lines) line.thawForNewOnly();
    await Promise.all([this.#follow(), setTimeout(this.#world.standby === undefined ? 0 : LEASE.leaseMs)]);
  }

  /** No more blows: true if the replicas find nothing left to do in time. */
  async rest(): Promise<boolean> {
    const sessions = this.#more();
    const timer = new AbortController();
    const late = setTimeout(REST_LIMIT_MS, false, { signal: timer.signal }).catch(() => false);
    const done = Promise.all(
      this.#replicas.map((replica) => replica.line("done", (line) => line.sessions === sessions)),
    ).then(() => true);
    done.catch(() => {});
    try {
      return await Promise.race([done, late]);
    } finally {
      timer.abort();
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.kill()));
  }

  #more(): number {
    const sessions = this.lives.addSessions(SESSIONS_PER_ROUND);
    for (const replica of this.#replicas) replica.send({ type: "more", sessions });
    return sessions;
  }

  async #follow(): Promise<void> {
    const { standby } = this.#world;
    if (standby === undefined) return;
    this.#line.pointTo(this.#primary.port);
    await this.#spare.follow(this.#primary, this.#line.port);
    if (standby.synchronous) await this.#primary.waitForStandby();
    else await this.#primary.untilFollowed("async");
  }
}
