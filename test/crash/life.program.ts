import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type Commit, Engine, type Ledger, systemClock } from "../../src/engine/index.ts";
import { CountersignError, type JsonObject } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { nextChange, watchCommits, wrapLedger } from "../support/ledger/ledger-proxy.ts";
import { type LedgerView, WATCH } from "../support/ledger/ledger-view.ts";
import { openView, urlOf } from "../support/ledger/open-view.ts";
import { listen, programOptions } from "../support/processes/program.ts";
import { Agent } from "./agent.ts";
import { defineGates, defineWatch, votesPolicy } from "./gates.ts";
import {
  complain,
  HEARTBEAT_MS,
  isConversation,
  type Kind,
  LEASE_MS,
  type LifeMessage,
  type LifeOptions,
  messagesOf,
  plannedSessions,
  SEAL_MS,
  SECRET,
  SWEEP_MS,
  tell,
} from "./life.ts";
import { People } from "./people.ts";
import { Killer, pointsOf } from "./points.ts";
import { sabotaged } from "./sabotage.ts";
import { World } from "./world.ts";

const CLIENTS = 6;
const RETRY_MS = 50;
const BREATH_MS = 25;

/**
 * One process of a run: an engine with a worker, the clients that start its sessions, and the people who
 * decide. Whatever an earlier process left undone is done by this one. It says `done` when nothing is left.
 */
async function main(options: LifeOptions): Promise<void> {
  const killer = new Killer(options.strike, () => tell({ type: "struck" }));
  const told = new Told(options.sessions);
  const inner = await openLedger(urlOf(options.through ?? options.ledger), options);
  const { ledger, ran } = sabotaged(options.sabotage, {
    inner,
    place: options.ledger,
    meet: (id) => told.meet(id),
  });
  const { leaseMs = LEASE_MS, heartbeatMs = HEARTBEAT_MS } = options.lease ?? {};
  const skewMs = options.skewMs ?? 0;
  const engine = new Engine({
    ledger: telling(deadly(ledger, killer)),
    clock: { ...systemClock, now: () => systemClock.now() + skewMs },
    leaseMs,
    heartbeatMs,
    secret: SECRET,
    hostName: "life",
    policy: votesPolicy,
    onNotice: ({ kind, details }) => tell({ type: "notice", kind, details }),
  });
  const view = openView(options.ledger);
  const world = new World(options, view, { killer, ran });
  const agent = new Agent(engine, world, view);
  engine.host(agent);
  const gates = defineGates(engine, world);
  const watching = defineWatch(engine, world);
  tell({ type: "ready" });
  engine.work({ sweepMs: SWEEP_MS, sealMs: SEAL_MS, onError: complain });
  if (options.watch === true) keepWatching(watching).catch(complain);
  const starting = new Set<string>();
  const start = async ({ kind, id }: { readonly kind: Kind; readonly id: string }): Promise<void> => {
    // Whoever is told of more sessions looks at the earlier ones again: a crash of the database may have undone them.
    if (starting.has(id)) return;
    starting.add(id);
    try {
      if (isConversation(kind)) await converse({ agent, view, ledger: inner }, { kind, id });
      else await gates.get(kind)?.({ order: id } satisfies JsonObject, { key: id, by: { id: "ana" } });
    } finally {
      starting.delete(id);
    }
  };
  told.onMore((sessions) => {
    runClients({ ...options, sessions }, view, start).catch(complain);
  });
  await untilClosed({ engine, view, told }, options);
  await engine.close();
  process.exitCode = 0;
  process.stdin.destroy();
}

/** Runs a call that ends with the process; another one, if its claim could not be had. */
async function keepWatching(watching: ReturnType<typeof defineWatch>): Promise<void> {
  for (let number = 0; ; number += 1) {
    const key = `${WATCH}-${randomBytes(6).toString("hex")}-${number}`;
    await watching({}, { key, by: { id: "ana" } }).catch((error: unknown) => {
      if (!isAway(error)) throw error;
    });
    await setTimeout(RETRY_MS);
  }
}

// A server may be away just now; a file never is.
async function openLedger(url: string, { durability }: LifeOptions): Promise<Ledger> {
  for (;;) {
    try {
      return await createLedger(url, durability === undefined ? {} : { durability });
    } catch (error) {
      if (!isAway(error) || !isServer(url)) throw error;
    }
  }
}

/** What the test says to this process. */
class Told {
  readonly close: Promise<void>;
  readonly #arrivals: (() => void)[] = [];
  #sessions: number;
  #onMore: (sessions: number) => void = () => {};

  constructor(sessions: number) {
    this.#sessions = sessions;
    this.close = new Promise((resolve) => {
      listen((message) => {
        const told = message as LifeMessage;
        if (told.type === "close") resolve();
        else if (told.type === "more") this.#more(told.sessions);
        else for (const go of this.#arrivals.splice(0)) go();
      });
    });
  }

  get sessions(): number {
    return this.#sessions;
  }

  /** Called with how many sessions there are, now and whenever there are more. */
  onMore(listener: (sessions: number) => void): void {
    this.#onMore = listener;
    listener(this.#sessions);
  }

  meet(confirmation: string): Promise<void> {
    const met = new Promise<void>((resolve) => {
      this.#arrivals.push(resolve);
    });
    tell({ type: "at-decision", confirmation });
    return met;
  }

  #more(sessions: number): void {
    this.#sessions = sessions;
    this.#onMore(sessions);
  }
}

function deadly(inner: Ledger, killer: Killer): Ledger {
  const watched = watchCommits(inner, {
    before: (commit) => pointsOf(commit).forEach((point) => killer.reach(`${point}:before`)),
    after: (commit) => pointsOf(commit).forEach((point) => killer.reach(`${point}:after`)),
  });
  return wrapLedger(watched, {
    owners: {
      async beat(owner, leaseMs) {
        killer.reach("beat:before");
        const sentAt = Date.now();
        const alive = await inner.owners.beat(owner, leaseMs);
        if (alive) tell({ type: "beat", owner: owner.id, sentAt, leaseMs });
        killer.reach("beat:after");
        return alive;
      },
      async retire(owner) {
        tell({ type: "retiring", owner, at: Date.now() });
        await inner.owners.retire(owner);
      },
    },
    journal: {
      async seal(checkpoint, upon) {
        killer.reach("seal:before");
        const sealed = await inner.journal.seal(checkpoint, upon);
        killer.reach("seal:after");
        return sealed;
      },
    },
  });
}

/** Says of every commit that the engine believes in which records it added. */
function telling(inner: Ledger): Ledger {
  return watchCommits(inner, { after: (commit) => tellRecords(commit) });
}

function tellRecords({ log: { session, n, kinds } }: Commit): void {
  const records = kinds.map((kind) => `${session} ${n} ${kind}`);
  if (records.length > 0) tell({ type: "committed", records });
}

/** A few clients share the sessions; each starts the next one when it has the last one's first answer. */
async function runClients(
  options: LifeOptions,
  view: LedgerView,
  start: (session: { readonly kind: Kind; readonly id: string }) => Promise<void>,
): Promise<void> {
  const { index, of } = options.share;
  const known = await view.sessionIds();
  const todo = plannedSessions(options).filter(({ kind, id }, place) =>
    isConversation(kind) ? place % of === index : !known.has(id),
  );
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
        const session = next;
        await start(session).catch(async (error: unknown) => {
          complain(error);
          // A client comes back when the server does.
          if (isAway(error)) todo.push(session);
          await setTimeout(RETRY_MS);
        });
      }
    }),
  );
}

/** Sends the messages of a conversation that were not sent yet. */
async function converse(
  { agent, view, ledger }: { readonly agent: Agent; readonly view: LedgerView; readonly ledger: Ledger },
  { kind, id }: { readonly kind: Kind; readonly id: string },
): Promise<void> {
  for (;;) {
    const changed = nextChange(ledger);
    const sent = (await view.framesOfSession(id)).length;
    if (sent >= messagesOf(kind)) return;
    // Refused while another message of the session is being answered.
    if (!(await agent.message(id))) await changed;
  }
}

interface Running {
  readonly engine: Engine;
  readonly view: LedgerView;
  readonly told: Told;
}

/** Decides what is open whenever something changes, and says when nothing is left, until it is told to close. */
async function untilClosed({ engine, view, told }: Running, options: LifeOptions): Promise<void> {
  const people = new People(engine, view, options);
  const closed = told.close.then(() => "closed" as const);
  for (let said: number | undefined; ; ) {
    const changed = nextChange(engine.ledger);
    await people.look().catch(complain);
    const { sessions } = told;
    if (said !== sessions && (await isDone(view, { ...options, sessions }))) {
      said = sessions;
      tell({ type: "done", sessions });
    }
    if ((await Promise.race([changed, closed])) === "closed") return;
    // A look at a server costs more than one at a file, and its replicas change it all the time.
    if (isServer(options.ledger)) await setTimeout(BREATH_MS);
  }
}

async function isDone(view: LedgerView, options: LifeOptions): Promise<boolean> {
  const left = async (): Promise<number> => (options.settle ? view.unsettled() : view.moving());
  // Asked after every change, so what mostly keeps it from being done comes first; once all have begun it counts.
  if ((await left()) > 0) return false;
  const planned = plannedSessions(options);
  const messages = planned.reduce((sum, { kind }) => sum + messagesOf(kind), 0);
  const begun = (await view.sessionIds()).size >= planned.length && (await view.messageCount()) >= messages;
  return begun && (await left()) === 0;
}

function isServer(place: string): boolean {
  return place.startsWith("postgres:");
}

function isAway(error: unknown): boolean {
  return CountersignError.isInstance(error) && /^ledger-(unreachable|busy)$/.test(error.code);
}

await main(programOptions() as LifeOptions);
