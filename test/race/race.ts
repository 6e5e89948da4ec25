import { join } from "node:path";
import { check, type Finding } from "../crash/checker.ts";
import { effort } from "../support/effort.ts";
import { type Effect, readEffects } from "../support/ledger/effects.ts";
import type { CallRow, JournalRow, LedgerContents, LedgerView } from "../support/ledger/ledger-view.ts";
import { openView, urlOf } from "../support/ledger/open-view.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { PgBouncer, type PgBouncerOptions } from "../support/postgres/pgbouncer.ts";
import type { Child } from "../support/processes/child.ts";
import type { Resources } from "../support/resources.ts";
import type { GateName, RacerLine, RacerOptions, Replies, Task } from "./racing.ts";

const PROGRAM = new URL("./racer.program.ts", import.meta.url);

/** Long enough that nobody loses it while a busy machine looks elsewhere. */
const PATIENT = { leaseMs: 20_000, heartbeatMs: 5_000 };
/** How far ahead a moment lies that processes are to meet at. */
const HEAD_START_MS = 8;

/** One process of a race, as the test sees it. */
export class RacerHandle {
  readonly name: string;
  readonly child: Child<RacerLine>;
  #tasks = 0;

  constructor(name: string, child: Child<RacerLine>) {
    this.name = name;
    this.child = child;
  }

  /** Has it do something; rejects if the engine threw. */
  async ask<T extends Task>(task: T): Promise<Replies[T["do"]]> {
    this.#tasks += 1;
    const id = this.#tasks;
    this.child.send({ type: "task", id, task });
    const line = await this.child.line("reply", (reply) => reply.id === id);
    if (line.error !== undefined) throw new Error(`${this.name}: ${line.error}`);
    return line.value as Replies[T["do"]];
  }
}

/** The same races are run on either store. */
export const onPostgres: boolean = process.env["COUNTERSIGN_TEST_STORE"] === "postgres";

/** Enough for four processes, each with its connections for statements and one that listens. */
const POOLED = 60;

/** Where the ledger is reached through a pooler, if one is asked for. */
async function startPooler(resources: Resources, ledger: string): Promise<{ readonly pooled?: string }> {
  const mode = process.env["COUNTERSIGN_TEST_POOLER"] as PgBouncerOptions["mode"];
  if (mode === undefined) return {};
  return { pooled: (await PgBouncer.start(resources, ledger, { mode, connections: POOLED })).url };
}

/** So many rounds on SQLite with the long proofs, a fifth of them otherwise; a quarter of that on PostgreSQL, which takes longer. */
export function roundsOf(rounds: number): number {
  const tried = effort({ short: rounds / 5, long: rounds });
  return Math.ceil(onPostgres ? tried / 4 : tried);
}

/** Processes on one ledger, and the world that their tools act upon. */
export class Race {
  readonly #resources: Resources;
  readonly #place: Pick<RacerOptions, "ledger" | "effects" | "pooled">;
  #opened = 0;

  private constructor(resources: Resources, place: Race["place"]) {
    this.#resources = resources;
    this.#place = place;
  }

  static async on(resources: Resources): Promise<Race> {
    const folder = await resources.folder();
    const ledger = onPostgres ? await createDatabase(resources) : join(folder, "ledger.db");
    const pooled = onPostgres ? await startPooler(resources, ledger) : {};
    return new Race(resources, { ledger, effects: join(folder, "effects.jsonl"), ...pooled });
  }

  get place(): Pick<RacerOptions, "ledger" | "effects" | "pooled"> {
    return this.#place;
  }

  get ledgerUrl(): string {
    return urlOf(this.#place.ledger);
  }

  async racer(name: string, over: Partial<RacerOptions> = {}): Promise<RacerHandle> {
    const options: RacerOptions = { ...this.#place, name, ...PATIENT, works: false, ...over };
    const child = this.#resources.child<RacerLine>(PROGRAM, { args: [JSON.stringify(options)] });
    await child.line("ready");
    return new RacerHandle(name, child);
  }

  /** Several alike, started one after the other: the first makes the ledger. */
  async racers(count: number, over: Partial<RacerOptions> = {}): Promise<readonly RacerHandle[]> {
    const racers: RacerHandle[] = [];
    for (let index = 0; index < count; index++) racers.push(await this.racer(`p${index}`, over));
    return racers;
  }

  /** Asks for a call of a gated function; it waits for a person. */
  async open(racer: RacerHandle, gate: GateName): Promise<Replies["open"]> {
    this.#opened += 1;
    return racer.ask({ do: "open", gate, key: `${gate}-${this.#opened}` });
  }

  /** The same of one that can be decided for a moment only, and still can be. */
  async openBrief(racer: RacerHandle): Promise<Replies["open"]> {
    for (;;) {
      const opened = await this.open(racer, "brief");
      if (opened.status === "pending") return opened;
    }
  }

  /** How often the body of this call was entered, by the world's account. */
  runsOf(call: string): readonly Effect[] {
    return readEffects(this.#place.effects).filter((effect) => effect.call === call);
  }

  /** Of the session that this call belongs to. */
  journalOf(call: string): Promise<readonly JournalRow[]> {
    return this.look((view) => view.journalOf(call));
  }

  async journal(): Promise<readonly JournalRow[]> {
    return (await this.#contents()).journal;
  }

  async calls(): Promise<readonly CallRow[]> {
    return (await this.#contents()).calls;
  }

  async look<T>(read: (view: LedgerView) => T | Promise<T>): Promise<T> {
    const view = openView(this.#place.ledger);
    try {
      return await read(view);
    } finally {
      await view.close();
    }
  }

  #contents(): Promise<LedgerContents> {
    return this.look((view) => view.contents());
  }

  /** What is wrong, now that nothing is on its way any more. */
  check(): Promise<readonly Finding[]> {
    return check({ ...this.#place, promised: [], moment: "rest" });
  }
}

/** A moment that processes can meet at, by the clock they share. */
export function soon(): number {
  return performance.timeOrigin + performance.now() + HEAD_START_MS;
}
