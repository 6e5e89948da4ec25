// One framework of bench/adapters.ts on one store, in a process of its own. Prints its samples as JSON.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Engine } from "../src/engine/index.ts";
import { Agent, type Model, Runner, tool } from "../src/index.ts";
import type { JsonObject } from "../src/protocol/index.ts";
import { createLedger } from "../src/stores/index.ts";
import { ALONE } from "../test/adapters/alone/index.ts";
import {
  type AdapterSubject,
  type ModelCall,
  PAY_RULE,
  type World,
} from "../test/adapters/contract/subject.ts";
import { SUBJECTS } from "../test/adapters/subjects/index.ts";
import { peerSubject } from "../test/adapters/subjects/peers.ts";
import { cpuOf } from "./cpu.ts";
import { median } from "./statistics.ts";

/** What one took, in microseconds. */
export interface Took {
  readonly cpu: number;
  readonly wall: number;
}

/** One round. */
export interface Sample {
  readonly runner: Took;
  readonly alone: Took;
  readonly gated: Took;
  /** A call of a tool without a gate, which was not given to the adapter, and which was. */
  readonly plain: Took;
  readonly ungated: Took;
}

const ROUNDS = 9;
/** These compile. */
const FIRST_ROUNDS = 6;
const CYCLES = 20;
const TURNS = 10;
const CALLS = 25;
const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const PAY: ModelCall = { id: "c1", tool: "pay", args: { amount: 40 } };
const NOTES: readonly ModelCall[] = Array.from({ length: CALLS }, (_none, place) => {
  return { id: `n${place}`, tool: "note", args: { text: "hello" } };
});

const [, , name = "", store = "memory"] = process.argv;
const folder = newFolder();
const { alone, gated } = await subjectsOf(name);
const engine = new Engine({ ledger: await createLedger(urlOf("adapter")) });
const runner = await newRunner();
let paid = 0;
let made = 0;

const samples: Sample[] = [];
for (let round = -FIRST_ROUNDS; round < ROUNDS; round += 1) {
  const sample = {
    runner: await takeAfresh(CYCLES, runnerCycle),
    alone: await takeAfresh(CYCLES, () => cycle(alone)),
    gated: await takeAfresh(CYCLES, () => cycle(gated)),
    ...(await takeInTurn()),
  };
  if (round >= 0) samples.push(sample);
}
process.stdout.write(`${JSON.stringify(samples)}\n`);
await engine.close();
await runner.close();
rmSync(folder, { recursive: true, force: true });
// A framework may have timers of its own.
// oxlint-disable-next-line unicorn/no-process-exit
process.exit(0);

async function take(times: number, work: () => Promise<void>): Promise<Took> {
  const start = performance.now();
  const cpu = await cpuOf(async () => {
    for (let time = 0; time < times; time += 1) await work();
  });
  const wall = (performance.now() - start) * 1_000;
  return { cpu: cpu / times, wall: wall / times };
}

/** As `take`, after what came before it was cleared away. */
function takeAfresh(times: number, work: () => Promise<void>): Promise<Took> {
  globalThis.gc?.();
  return take(times, work);
}

/** Calls without a gate: a turn outside of the adapter and one inside of it, each first as often as the other. */
async function takeInTurn(): Promise<Pick<Sample, "plain" | "ungated">> {
  const took: Record<"plain" | "ungated", Took[]> = { plain: [], ungated: [] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const order = turn % 2 === 0 ? (["plain", "ungated"] as const) : (["ungated", "plain"] as const);
    for (const which of order) took[which].push(await take(1, () => notes(which === "plain")));
  }
  return { plain: ofOneCall(took.plain), ungated: ofOneCall(took.ungated) };
}

function ofOneCall(turns: readonly Took[]): Took {
  const of = (one: (took: Took) => number): number => median(turns.map(one)) / CALLS;
  return { cpu: of(({ cpu }) => cpu), wall: of(({ wall }) => wall) };
}

/** Beside the results and not in the system's temporary folder, which may be in memory, where a sync is free. */
function newFolder(): string {
  const results = fileURLToPath(new URL("results/", import.meta.url));
  mkdirSync(results, { recursive: true });
  return mkdtempSync(join(results, "adapters-"));
}

function urlOf(ledger: string): string {
  return store === "memory" ? "memory:" : `sqlite:${join(folder, `${ledger}.db`)}`;
}

async function cycle(subject: AdapterSubject): Promise<void> {
  const before = paid;
  const host = subject.open(newWorld());
  const paused = await host.send([PAY]);
  if (paused.status !== "paused" || paid !== before) throw new Error(`${name} did not pause.`);
  for (const { id } of await engine.pending({ by: ana })) await engine.approve(id, { by: ana });
  const done = await host.resume(paused.state);
  if (done.status !== "done" || paid !== before + 1) throw new Error(`${name} ran ${paid - before} times.`);
}

async function notes(outside: boolean): Promise<void> {
  const world = newWorld();
  const host = gated.open(outside ? { ...world, noteOutside: true } : world);
  const { told } = await host.send(NOTES);
  if (Object.keys(told).length !== CALLS) throw new Error(`${name} answered ${Object.keys(told).length}.`);
}

function newWorld(): World {
  made += 1;
  return {
    engine,
    app: "shop",
    thread: `thread-${made}`,
    description: "Pays an amount.",
    few: true,
    pay: async ({ amount = null }) => {
      paid += 1;
      return { paid: amount };
    },
  };
}

async function newRunner(): Promise<Runner> {
  const model: Model = {
    name: "script",
    async *generate({ contents }) {
      const isAnswer = contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined);
      const functionCall = { id: "c1", name: "pay", args: PAY.args };
      yield { parts: isAnswer === true ? [{ text: "Done." }] : [{ functionCall }] };
    },
  };
  const pay = tool({
    name: "pay",
    description: "Pays an amount.",
    parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
    // The same rule as the adapters have.
    requireConfirmation: PAY_RULE.requireConfirmation,
    confirmationHint: PAY_RULE.hint,
    approvers: PAY_RULE.approvers,
    amendable: PAY_RULE.amendable,
    execute: async ({ amount = null }: JsonObject) => {
      paid += 1;
      return { paid: amount };
    },
  });
  const agent = new Agent({ name: "cashier", model, instruction: "Pay.", tools: [pay] });
  return new Runner({ agent, ledger: await createLedger(urlOf("runner")) });
}

async function runnerCycle(): Promise<void> {
  const before = paid;
  made += 1;
  const turn = await runner.send("Pay.", { user: "ana", session: `session-${made}` });
  if (turn.status !== "paused" || paid !== before) throw new Error("The Runner did not pause.");
  for (const { id } of await runner.pending({ by: ana }))
    await (await runner.approve(id, { by: ana })).finished;
  if (paid !== before + 1) throw new Error(`The Runner ran it ${paid - before} times.`);
}

async function subjectsOf(wanted: string): Promise<{ alone: AdapterSubject; gated: AdapterSubject }> {
  const own = SUBJECTS.find((each) => each.name === wanted);
  if (own === undefined)
    return { alone: await peerSubject(`${wanted} alone`), gated: await peerSubject(wanted) };
  const without = ALONE.find(({ of }) => of === wanted);
  if (without === undefined) throw new Error(`There is no ${wanted} alone.`);
  return { alone: without, gated: own };
}
