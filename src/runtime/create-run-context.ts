import { createIds, DEFAULT_SETTINGS, Engine, systemClock } from "../engine/index.ts";
import { readAgentTree } from "./agent-tree.ts";
import { Cancellation } from "./cancellation.ts";
import type { RunContext } from "./run-context.ts";
import { RunFeed } from "./run-feed.ts";
import type { RunnerOptions } from "./runner.ts";
import { createRuntimeHost } from "./runtime-host.ts";

const DEFAULT_MODEL_CALLS = 500;

/** Opens the ledger, makes the engine and says that this process hosts the app. */
export async function createRunContext(app: string, options: RunnerOptions): Promise<RunContext> {
  const {
    agent,
    models,
    policy,
    ledger,
    clock = systemClock,
    newId = createIds(),
    maxModelCalls,
    maxOpen,
  } = options;
  const opened = typeof ledger === "function" ? await ledger() : ledger;
  const engine = new Engine({ ...engineOptions(options), ledger: opened, clock, newId });
  const background = new Background();
  const run: RunContext = {
    app,
    engine,
    agents: readAgentTree(agent),
    hooks: options,
    policy,
    models,
    feed: new RunFeed(),
    settings: {
      maxModelCalls: maxModelCalls ?? DEFAULT_MODEL_CALLS,
      maxOpen: maxOpen ?? DEFAULT_SETTINGS.maxOpen,
    },
    cancellation: new Cancellation(),
    answering: background.sessions,
    background: (session, work) => background.add(session, work),
    settled: () => background.settled(),
    newId: () => newId(clock.now()),
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
  engine.host(createRuntimeHost(run));
  return run;
}

function engineOptions({
  secret,
  hostName,
  leaseMs,
  heartbeatMs,
  maxOpen,
  maxRounds,
}: RunnerOptions): object {
  const given = { secret, hostName, leaseMs, heartbeatMs, maxOpen, maxRounds };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Providers being asked, by session: while one is, the session is not quiet. */
class Background {
  readonly sessions = new Set<string>();
  readonly #work = new Map<Promise<void>, string>();

  add(session: string, work: Promise<void>): void {
    // What a provider could not decide stays open in the ledger, for a person to see.
    const tracked = work.catch(() => {}).finally(() => this.#remove(tracked));
    this.#work.set(tracked, session);
    this.sessions.add(session);
  }

  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work.keys());
  }

  #remove(work: Promise<void>): void {
    const session = this.#work.get(work);
    this.#work.delete(work);
    const others = Array.from(this.#work.values()).includes(session ?? "");
    if (session !== undefined && !others) this.sessions.delete(session);
  }
}
