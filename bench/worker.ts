// The process of one contender: `worker.ts <contender> <store> <file>`. With a parent it takes commands; without
// one, `--cycles N` runs so many and ends, for strace.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CONTENDERS, isContenderName, type Opened, STORES, type Store } from "./contender.ts";
import { type Growth, type GrowthPlan, measureGrowth } from "./growth.ts";
import { type Traced, traceStatements } from "./statement-trace.ts";

export type Command =
  | { readonly kind: "batch"; readonly ms: number }
  | { readonly kind: "trace" }
  | { readonly kind: "bytes"; readonly cycles: number }
  | { readonly kind: "growth"; readonly plan: GrowthPlan };

export interface Replies {
  readonly batch: Batch;
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
  readonly #file: string;
  readonly #runs: { count: number };
  #cycles = 0;

  constructor(contender: Opened, file: string, runs: { count: number }) {
    this.#contender = contender;
    this.#file = file;
    this.#runs = runs;
  }

  /** One cycle, checked: the body has not run before the approval and has run once after it. */
  async cycle(): Promise<void> {
    this.#cycles += 1;
    const before = this.#runs.count;
    const paused = await this.#contender.pause(`session-${String(this.#cycles).padStart(12, "0")}`);
    if (this.#runs.count !== before) throw new Error("The body ran before the approval.");
    await paused.approve();
    const runs = this.#runs.count - before;
    if (runs !== 1) throw new Error(`The body ran ${runs} times after one approval.`);
  }

  async batch(ms: number): Promise<Batch> {
    globalThis.gc?.();
    const cpu = process.cpuUsage();
    const began = performance.now();
    let cycles = 0;
    for (; performance.now() - began < ms; cycles += 1) await this.cycle();
    const elapsed = performance.now() - began;
    const { user, system } = process.cpuUsage(cpu);
    return { cycles, ms: elapsed, cpuMs: (user + system) / 1_000 };
  }

  /** The statements of one cycle, after a few that make rows and prepare statements. */
  async trace(): Promise<readonly Traced[]> {
    for (let i = 0; i < WARM_CYCLES; i += 1) await this.cycle();
    const traced: Traced[] = [];
    traceStatements((statement) => traced.push(statement));
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
  if (!isContenderName(name)) throw new Error(`There is no contender "${name}".`);
  const runs = { count: 0 };
  const contender = await CONTENDERS[name]();
  const opened = await contender.open({
    store,
    file,
    runBody: ({ amount }) => {
      runs.count += 1;
      return { ok: true, amount };
    },
  });
  return new Worker(opened, file, runs);
}

async function main(): Promise<void> {
  const [name = "", storeText = "", file = "", , count] = process.argv.slice(2);
  const store = STORES.find((known) => known === storeText);
  if (store === undefined) throw new Error(`There is no store "${storeText}".`);
  let opened: Promise<Worker> | undefined;
  const worker = (): Promise<Worker> => (opened ??= open(name, store, file));
  if (process.send === undefined) {
    const alone = await worker();
    for (let i = 0; i < Number(count); i += 1) await alone.cycle();
    return;
  }
  const run = async (command: Command): Promise<Reply> => {
    switch (command.kind) {
      case "batch":
        return { value: await (await worker()).batch(command.ms) };
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
