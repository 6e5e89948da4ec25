import { setTimeout } from "node:timers/promises";
import type { LifeLine } from "../crash/life.ts";
import { assertKilled, type Lives } from "../crash/lives.ts";
import type { TcpProxy } from "../support/http/tcp-proxy.ts";
import type { Child } from "../support/processes/child.ts";
import type { Random } from "../support/random.ts";

/** What can happen to one replica. */
export const BLOWS = ["kill", "stop", "cut", "freeze"] as const;
export type Blow = (typeof BLOWS)[number];

/** So short that replicas lose it all the time. */
export const LEASE = { leaseMs: 500, heartbeatMs: 150 } as const;

/** So long that a database that crashes is back by then. */
export const LONG_LEASE = { leaseMs: 10_000, heartbeatMs: 200 } as const;

const LONGEST_LIFE_MS = 200;
// Longer than a lease.
const SHORTEST_ABSENCE_MS: number = LEASE.leaseMs * 1.1;
const ABSENCE_SPREAD_MS = 200;

/** One replica: a process that is started again when it is killed, and its line to the database. */
export class Replica {
  readonly #lives: Lives;
  readonly #proxy: TcpProxy;
  readonly #told: Parameters<Lives["start"]>[0];
  #child: Child<LifeLine>;
  #ready: Promise<unknown>;

  constructor(lives: Lives, proxy: TcpProxy, told: Parameters<Lives["start"]>[0]) {
    this.#lives = lives;
    this.#proxy = proxy;
    this.#told = told;
    this.#child = lives.start(told);
    this.#ready = readyOf(this.#child);
  }

  /** Ends it and begins anew, with something said differently. Resolves when it is at work. */
  async begin(told: Partial<Parameters<Lives["start"]>[0]>): Promise<void> {
    await this.#child.kill();
    this.#child = this.#lives.start({ ...this.#told, ...told });
    await this.#child.line("ready");
  }

  /** There are more sessions to begin. */
  tell(sessions: number): void {
    this.#child.send({ type: "more", sessions });
  }

  /** Strikes amid its work, at a moment that nobody chose. */
  async suffer(blow: Blow, random: Random): Promise<void> {
    const at = random.fraction() * LONGEST_LIFE_MS;
    const absence = SHORTEST_ABSENCE_MS + random.fraction() * ABSENCE_SPREAD_MS;
    // Some die while they start.
    if (blow !== "kill" || random.chance(0.8)) await this.#ready;
    await setTimeout(at);
    switch (blow) {
      case "kill": {
        const end = await this.#child.kill();
        assertKilled(end, this.#child.complaints);
        this.#child = this.#lives.start(this.#told);
        this.#ready = readyOf(this.#child);
        return;
      }
      case "stop":
        this.#child.signal("SIGSTOP");
        await setTimeout(absence);
        this.#child.signal("SIGCONT");
        return;
      case "cut":
        this.#proxy.cut();
        return;
      case "freeze":
        this.#proxy.freeze();
        await setTimeout(absence);
        this.#proxy.thaw();
        return;
    }
  }

  /** Resolves when it has found nothing left to do of so many sessions. */
  async done(sessions: number): Promise<void> {
    await this.#child.line("done", (line) => line.sessions === sessions);
  }

  /** Ends it; what it has not done is left to others. */
  async end(): Promise<void> {
    await this.#child.kill();
  }
}

// One that dies first is not waited for.
function readyOf(child: Child<LifeLine>): Promise<unknown> {
  return child.line("ready").catch(() => {});
}
