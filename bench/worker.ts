// The process of one contender: `worker.ts <contender> <store> <file>`. With a parent it takes commands; without
// one, `--cycles N` runs so many and ends, for strace.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { watchQueries } from "../test/support/postgres/watch-queries.ts";
import { contendersOn, type Opened, STORES, type Store } from "./contender.ts";
import { type Growth, type GrowthPlan, measureGrowth } from "./growth.ts";
import { type Traced, toTraced, traceStatements } from "./statement-trace.ts";

export type Command =
  | { readonly kind: "batch"; readonly ms: number; readonly inFlight?: number }
  | { readonly kind: "cycles"; readonly count: number }
  | { readonly kind: "trace" }
  | { readonly kind: "bytes"; readonly cycles: number }
  | { readonly kind: "growth"; readonly plan: GrowthPlan };

export interface Replies {
  readonly batch: Batch;
  readonly cycles: number;
  readonly trace: readonly Traced[];
  readonly bytes: Bytes;
  readonly growth: Growth;
}

export type Reply = { readonly value: Replies[keyof Replies] } | { readonly error: string };

export interface Batch {
  readonly cycles: number;
  readonly ms: number;
  readonly cpuMs: number;
}

/** What a cycle leaves behind, in bytes. */
export interface Bytes {
  readonly log: number;
  readonly database: number;
}

const WARM_CYCLES = 20;
/** Enough that tables have more than their first page. */
const SETTLING_CYCLES = 200;

class Worker {
  readonly #contender: Opened;
  readonly #store: Store;
  readonly #file: string;
  readonly #runs: { count: number };
  #cycles = 0;

  constructor(
    contender: Opened,
    place: { readonly store: Store; readonly file: string },
    runs: { count: number },
  ) {
    this.#contender = contender;
    this.#store = place.store;
    this.#file = place.file;
    this.#runs = runs;
  }

  /** One cycle, checked: the body has not run before the approval and has run once after it. */
  async cycle(): Promise<void> {
    const before = this.#runs.count;
    const paused = await this.#contender.pause(this.#newSession());
    if (this.#runs.count !== before) throw new Error("The body ran before the approval.");
    await paused.approve();
    const runs = this.#runs.count - before;
    if (runs !== 1) throw new Error(`The body ran ${runs} times after one approval.`);
  }

  async cycles(count: number): Promise<number> {
    for (let i = 0; i < count; i += 1) await this.cycle();
    return count;
  }

  async batch(ms: number, inFlight: number): Promise<Batch> {
    globalThis.gc?.();
    const cpu = process.cpuUsage();
    const began = performance.now();
    const isOver = (): boolean => performance.now() - began >= ms;
    const cycles = await (inFlight === 1 ? this.#oneByOne(isOver) : this.#together(inFlight, isOver));
    const elapsed = performance.now() - began;
    const { user, system } = process.cpuUsage(cpu);
    return { cycles, ms: elapsed, cpuMs: (user + system) / 1_000 };
  }

  async #oneByOne(isOver: () => boolean): Promise<number> {
    let cycles = 0;
    for (; !isOver(); cycles += 1) await this.cycle();
    return cycles;
  }

  /** So many sessions at once: that no body ran twice, or too early for nothing, is seen at the end. */
  async #together(inFlight: number, isOver: () => boolean): Promise<number> {
    const before = this.#runs.count;
    let cycles = 0;
    const lane = async (): Promise<void> => {
      for (; !isOver(); cycles += 1) await (await this.#contender.pause(this.#newSession())).approve();
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    const runs = this.#runs.count - before;
    if (runs !== cycles) throw new Error(`The bodies ran ${runs} times after ${cycles} approvals.`);
    return cycles;
  }

  #newSession(): string {
    this.#cycles += 1;
    return `session-${String(this.#cycles).padStart(12, "0")}`;
  }

  /** The statements of one cycle, after a few that make rows and prepare statements. */
  async trace(): Promise<readonly Traced[]> {
    for (let i = 0; i < WARM_CYCLES; i += 1) await this.cycle();
    const traced: Traced[] = [];
    if (this.#store === "postgres") watchQueries((query) => traced.push(toTraced(query)));
    else traceStatements((statement) => traced.push(statement));
    await this.cycle();
    // What is looked for after the last event was stored belongs to the cycle too.
    await new Promise((resolve) => setImmediate(resolve));
    return traced;
  }

  async bytes(cycles: number): Promise<Bytes> {
    for (let i = 0; i < SETTLING_CYCLES; i += 1) await this.cycle();
    const before = this.#checkpointed();
    for (let i = 0; i < cycles; i += 1) await this.cycle();
    const log = statSync(`${this.#file}-wal`).size;
    return { log: log / cycles, database: (this.#checkpointed() - before) / cycles };
  }

  /** Empties the log into the database and gives that one's size. */
  #checkpointed(): number {
    const database = new DatabaseSync(this.#file);
    database.exec("pragma wal_checkpoint(truncate)");
    database.close();
    return statSync(this.#file).size;
  }
}

async function open(name: string, store: Store, file: string): Promise<Worker> {
  const load = contendersOn(store)[name];
  if (load === undefined) throw new Error(`There is no contender "${name}" on ${store}.`);
  const runs = { count: 0 };
  const opened = await (await load()).open({
    store,
    file,
    runBody: ({ amount }) => {
      runs.count += 1;
      return { ok: true, amount };
    },
  });
  return new Worker(opened, { store, file }, runs);
}

async function main(): Promise<void> {
  const [name = "", storeText = "", file = "", , count] = process.argv.slice(2);
  const store = STORES.find((known) => known === storeText);
  if (store === undefined) throw new Error(`There is no store "${storeText}".`);
  let opened: Promise<Worker> | undefined;
  const worker = (): Promise<Worker> => (opened ??= open(name, store, file));
  if (process.send === undefined) {
    await (await worker()).cycles(Number(count));
    return;
  }
  const run = async (command: Command): Promise<Reply> => {
    switch (command.kind) {
      case "batch":
        return { value: await (await worker()).batch(command.ms, command.inFlight ?? 1) };
      case "cycles":
        return { value: await (await worker()).cycles(command.count) };
      case "trace":
        return { value: await (await worker()).trace() };
      case "bytes":
        return { value: await (await worker()).bytes(command.cycles) };
      case "growth":
        return { value: await measureGrowth(command.plan, file) };
    }
  };
  process.on("message", (command: Command) => {
    run(command).then(
      (reply) => process.send?.(reply),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
    );
  });
}

await main();
