import { Engine } from "../../../src/engine/index.ts";
import { CountingLedger, type Counts } from "../../support/ledger/counting-store.ts";
import type { Resources } from "../../support/resources.ts";
import { ana, question } from "./scene.ts";
import type { AdapterSubject } from "./subject.ts";

/** What each part of a gated cycle asks of the store. */
export interface Cycle {
  readonly asking: Counts;
  readonly deciding: Counts;
  readonly running: Counts;
}

/** How often the ledger is read before the model waits, and to go on. */
export interface CycleReads {
  readonly asking: number;
  readonly running: number;
}

/** How often an adapter looks, to go on: to find out whether it can, and each time that the framework asks. */
export const ADAPTER_READS: { readonly [adapter: string]: CycleReads } = {
  "ai-sdk": { asking: 1, running: 4 },
  langchain: { asking: 1, running: 3 },
  "openai-agents": { asking: 1, running: 3 },
  "google-adk": { asking: 1, running: 4 },
  mastra: { asking: 1, running: 3 },
};

/** Every gated cycle makes four commits, and writes nothing else: question, decision, claim and result. */
export function cycleOf({ asking, running }: CycleReads): Cycle {
  return {
    asking: { reads: asking, commits: 1, changes: 0 },
    // The call, and who votes for whom.
    deciding: { reads: 2, commits: 1, changes: 0 },
    running: { reads: running, commits: 2, changes: 0 },
  };
}

/** An engine whose store is counted. */
export interface Counted {
  readonly counting: CountingLedger;
  readonly engine: Engine;
}

export function countedEngine(resources: Resources): Counted {
  const counting = new CountingLedger();
  const engine = new Engine({ ledger: counting.ledger });
  resources.add(() => engine.close());
  return { counting, engine };
}

/** Approves the only open question. */
export async function decisionOf({ counting, engine }: Counted): Promise<Counts> {
  const { id } = await question(engine);
  return counting.during(() => engine.approve(id, { by: ana }));
}

/** The first cycle also stores the tool's definition, takes the lease and counts the user's open questions. */
export async function secondOf(cycle: (name: string) => Promise<Cycle>): Promise<Cycle> {
  await cycle("first");
  return cycle("second");
}

/** What a gated cycle inside this framework asks of the store. */
export function countedCycle(subject: AdapterSubject, counted: Counted): Promise<Cycle> {
  const { counting, engine } = counted;
  return secondOf(async (thread) => {
    const description = "Pays an amount.";
    const host = subject.open({
      engine,
      app: "shop",
      thread,
      description,
      pay: async () => ({ paid: true }),
    });
    let state = "";
    const asking = await counting.during(async () => {
      ({ state } = await host.send([{ id: "c1", tool: "pay", args: { amount: 40 } }]));
    });
    const deciding = await decisionOf(counted);
    const running = await counting.during(() => host.resume(state));
    return { asking, deciding, running };
  });
}
