import { type Commit, Engine, type Ledger } from "../../src/engine/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { LedgerFile } from "../support/ledger-file.ts";
import { nextChange, watchCommits, wrapLedger } from "../support/ledger-proxy.ts";
import { listen, programOptions } from "../support/program.ts";
import { Agent } from "./agent.ts";
import { defineGates } from "./gates.ts";
import {
  describeError,
  HEARTBEAT_MS,
  isConversation,
  type Kind,
  LEASE_MS,
  type LifeMessage,
  type LifeOptions,
  messagesOf,
  plannedSessions,
  SECRET,
  SWEEP_MS,
  tell,
} from "./life.ts";
import { People } from "./people.ts";
import { Killer, pointsOf } from "./points.ts";
import { sabotaged } from "./sabotage.ts";
import { World } from "./world.ts";

const CLIENTS = 6;

/**
 * One process of a run: an engine with a worker, the clients that start its sessions, and the people who
 * decide. Whatever an earlier process left undone is done by this one. It says `done` when nothing is left.
 */
async function main(options: LifeOptions): Promise<void> {
  const killer = new Killer(options.strike);
  const told = new Told();
  const inner = await createLedger(`sqlite:${options.ledger}`);
  const { ledger, ran } = sabotaged(options.sabotage, { inner, meet: (id) => told.meet(id) });
  const engine = new Engine({
    ledger: telling(deadly(ledger, killer)),
    leaseMs: LEASE_MS,
    heartbeatMs: HEARTBEAT_MS,
    secret: SECRET,
    hostName: "life",
  });
  const world = new World(options, killer, ran);
  const file = new LedgerFile(options.ledger);
  const agent = new Agent(engine, world, file);
  engine.host(agent);
  const gates = defineGates(engine, world);
  tell({ type: "ready" });
  engine.work({ sweepMs: SWEEP_MS, sealMs: SWEEP_MS, onError: complain });
  const start = async ({ kind, id }: { readonly kind: Kind; readonly id: string }): Promise<void> => {
    if (isConversation(kind)) return converse({ agent, file, ledger: inner }, { kind, id });
    await gates.get(kind)?.({ order: id } satisfies JsonObject, { key: id, by: { id: "ana" } });
  };
  runClients(options, file, start).catch(complain);
  await untilDone(engine, file, options);
  tell({ type: "done" });
  await told.close;
  await engine.close();
  process.exitCode = 0;
  process.stdin.destroy();
}

/** What the test says to this process. */
class Told {
  readonly close: Promise<void>;
  readonly #arrivals: (() => void)[] = [];

  constructor() {
    this.close = new Promise((resolve) => {
      listen((message) => {
        const { type } = message as LifeMessage;
        if (type === "close") resolve();
        else for (const go of this.#arrivals.splice(0)) go();
      });
    });
  }

  meet(confirmation: string): Promise<void> {
    const met = new Promise<void>((resolve) => {
      this.#arrivals.push(resolve);
    });
    tell({ type: "at-approval", confirmation });
    return met;
  }
}

function deadly(inner: Ledger, killer: Killer): Ledger {
  const watched = watchCommits(inner, {
    before: (commit) => pointsOf(commit).forEach((point) => killer.reach(`${point}:before`)),
    after: (commit) => pointsOf(commit).forEach((point) => killer.reach(`${point}:after`)),
  });
  return wrapLedger(watched, {
    async beat(owner, leaseMs) {
      killer.reach("beat:before");
      const alive = await inner.beat(owner, leaseMs);
      killer.reach("beat:after");
      return alive;
    },
    async seal(checkpoint) {
      killer.reach("seal:before");
      const sealed = await inner.seal(checkpoint);
      killer.reach("seal:after");
      return sealed;
    },
  });
}

/** Says of every commit that the engine believes in which records it added. */
function telling(inner: Ledger): Ledger {
  return watchCommits(inner, { after: (commit) => tellRecords(commit) });
}

function tellRecords({ writes }: Commit): void {
  const records = writes.flatMap((write) =>
    write.kind === "journal" ? [`${write.record.stream} ${write.record.n} ${write.record.kind}`] : [],
  );
  if (records.length > 0) tell({ type: "committed", records });
}

/** A few clients share the sessions; each starts the next one when it has the last one's first answer. */
async function runClients(
  options: LifeOptions,
  file: LedgerFile,
  start: (session: { readonly kind: Kind; readonly id: string }) => Promise<void>,
): Promise<void> {
  const { index, of } = options.share;
  const known = file.sessionIds();
  const todo = plannedSessions(options).filter(({ kind, id }, place) =>
    isConversation(kind) ? place % of === index : !known.has(id),
  );
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let next = todo.shift(); next !== undefined; next = todo.shift()) await start(next);
    }),
  );
}

/** Sends the messages of a conversation that were not sent yet. */
async function converse(
  { agent, file, ledger }: { readonly agent: Agent; readonly file: LedgerFile; readonly ledger: Ledger },
  { kind, id }: { readonly kind: Kind; readonly id: string },
): Promise<void> {
  for (;;) {
    const changed = nextChange(ledger);
    const sent = file.framesOfSession(id).length;
    if (sent >= messagesOf(kind)) return;
    // Refused while another message of the session is being answered.
    if (!(await agent.message(id, sent))) await changed;
  }
}

async function untilDone(engine: Engine, file: LedgerFile, options: LifeOptions): Promise<void> {
  const people = new People(engine, file, options);
  const planned = plannedSessions(options);
  const messages = planned.reduce((sum, { kind }) => sum + messagesOf(kind), 0);
  for (;;) {
    const changed = nextChange(engine.ledger);
    await people.look();
    const begun = file.sessionIds().size >= planned.length && file.messageCount() >= messages;
    const still = file.movingCalls() === 0 && file.movingFrames() === 0;
    if (begun && still && (!options.settle || file.unknownCalls() === 0)) return;
    await changed;
  }
}

function complain(error: unknown): void {
  tell({ type: "error", message: describeError(error) });
}

await main(programOptions() as LifeOptions);
