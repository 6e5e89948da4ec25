import { type AnyAgent, createLedger, type Ledger, Runner } from "../../../src/index.ts";
import { LedgerFile } from "../../support/ledger/ledger-file.ts";
import { nextChange, watchCommits } from "../../support/ledger/ledger-proxy.ts";
import { listen, programOptions, say } from "../../support/processes/program.ts";
import { describeError, HEARTBEAT_MS, LEASE_MS, SECRET } from "../life.ts";
import { type ActorLine, type ActorOptions, type Go, type SessionId, scenarioOf } from "./acting.ts";
import { Deciders } from "./deciders.ts";
import { CommitKiller, deadly } from "./killer.ts";
import { SCENARIOS, type ScenarioName } from "./scenarios.ts";
import { RunnerWorld } from "./world.ts";

const SWEEP_MS = 30;

/**
 * One process: a Runner for each scenario with its worker, a user who talks to them, and people who decide.
 * Whatever an earlier process left undone is done by this one.
 */
class Actor {
  readonly #file: LedgerFile;
  readonly #ledger: Ledger;
  readonly #killer: CommitKiller;
  readonly #runners: ReadonlyMap<ScenarioName, Runner>;
  readonly #people: Deciders;
  readonly #limits: { readonly maxLostAttempts?: number };

  constructor(options: ActorOptions, inner: Ledger) {
    const { maxLostAttempts } = options;
    this.#limits = maxLostAttempts === undefined ? {} : { maxLostAttempts };
    this.#killer = new CommitKiller();
    this.#ledger = telling(deadly(inner, this.#killer));
    this.#file = new LedgerFile(options.ledger);
    const world = new RunnerWorld(options.effects, this.#file, this.#killer);
    this.#runners = new Map(
      options.scenarios.map((name) => [name, this.#runner(name, SCENARIOS[name].agent(world))]),
    );
    this.#people = new Deciders({ ledger: this.#ledger, runners: this.#runners, world, seed: options.seed });
  }

  async play({ sessions, next, strike, share = { index: 0, of: 1 } }: Go): Promise<void> {
    say({ type: "ready" } satisfies ActorLine);
    if (next === undefined) this.#killer.arm(strike);
    for (const runner of this.#runners.values()) runner.work({ sweepMs: SWEEP_MS, onError: complain });
    await this.#finish(sessions, share);
    say({ type: "recovered" } satisfies ActorLine);
    if (next !== undefined) {
      this.#killer.arm(strike);
      await this.#finish([...sessions, next], share);
    }
    this.#killer.arm(undefined);
    say({ type: "done" } satisfies ActorLine);
  }

  #runner(app: ScenarioName, agent: AnyAgent): Runner {
    return new Runner({
      app,
      agent,
      ledger: this.#ledger,
      secret: SECRET,
      leaseMs: LEASE_MS,
      ...this.#limits,
      heartbeatMs: HEARTBEAT_MS,
      hostName: `actor-${process.pid}`,
    });
  }

  async #finish(sessions: readonly SessionId[], { index, of }: NonNullable<Go["share"]>): Promise<void> {
    sessions
      .filter((id, place) => place % of === index && this.#file.framesOfSession(id).length === 0)
      .forEach((id) => this.#talk(id));
    for (;;) {
      const changed = nextChange(this.#ledger);
      await this.#people.look();
      if (this.#isOver(sessions)) return;
      await changed;
    }
  }

  #talk(session: SessionId): void {
    this.#runners.get(scenarioOf(session))?.send("Go.", { user: "ana", session }).catch(complain);
  }

  #isOver(sessions: readonly SessionId[]): boolean {
    const file = this.#file;
    const moving = file.unsettled();
    const begun = file.sessionIds();
    return moving === 0 && sessions.every((id) => begun.has(id));
  }
}

/** Says of every commit that the engine believes in which records it added. */
function telling(inner: Ledger): Ledger {
  return watchCommits(inner, {
    after: ({ log: { session, n, kinds } }) => {
      const records = kinds.map((kind) => `${session} ${n} ${kind}`);
      if (records.length > 0) say({ type: "committed", records } as ActorLine);
    },
  });
}

function complain(error: unknown): void {
  say({ type: "error", message: describeError(error) } as ActorLine);
}

const options = programOptions() as ActorOptions;
listen((message) => {
  createLedger(`sqlite:${options.ledger}`)
    .then((ledger) => new Actor(options, ledger).play(message as Go))
    .catch(complain);
});
