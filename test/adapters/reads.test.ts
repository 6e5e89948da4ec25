import { expect, test } from "vitest";
import { type CallRequest, Engine } from "../../src/engine/index.ts";
import { CountingLedger, type Counts } from "../support/ledger/counting-store.ts";
import { useResources } from "../support/resources.ts";
import { ana, question } from "./contract/scene.ts";
import type { AdapterSubject, World } from "./contract/subject.ts";
import { SUBJECTS } from "./subjects/index.ts";

const resources = useResources();

/** What each part of a gated cycle asks of the store. */
interface Cycle {
  readonly asking: Counts;
  readonly deciding: Counts;
  readonly running: Counts;
}

/** Every gated cycle makes four commits, and writes nothing else: question, decision, claim and result. */
function cycleOf({ asking, running }: { readonly asking: number; readonly running: number }): Cycle {
  return {
    asking: { reads: asking, commits: 1, changes: 0 },
    // The call, and who votes for whom.
    deciding: { reads: 2, commits: 1, changes: 0 },
    running: { reads: running, commits: 2, changes: 0 },
  };
}

function open(): { readonly counting: CountingLedger; readonly engine: Engine } {
  const counting = new CountingLedger();
  const engine = new Engine({ ledger: counting.ledger });
  resources.add(() => engine.close());
  return { counting, engine };
}

async function approval(engine: Engine): Promise<() => Promise<unknown>> {
  const { id } = await question(engine);
  return () => engine.approve(id, { by: ana });
}

function requestOf(key: string): CallRequest {
  const asked = { tool: "pay", description: "Pays an amount.", approvers: { users: ["ana"] } };
  return { by: { id: "bot", kind: "agent" }, app: "shop", thread: key, key, args: { amount: 40 }, ...asked };
}

// The first cycle also stores the tool's definition, takes the lease and counts the user's open questions.
async function second(cycle: (name: string) => Promise<Cycle>): Promise<Cycle> {
  await cycle("first");
  return cycle("second");
}

test("the gate without a framework reads the call once for each command", async () => {
  const { counting, engine } = open();
  const counts = await second(async (key) => {
    const asking = await counting.during(() => engine.callers.propose(requestOf(key)));
    const deciding = await counting.during(await approval(engine));
    const running = await counting.during(async () => {
      const { status } = await engine.callers.run(requestOf(key), async () => "paid");
      expect(status).toBe("succeeded");
    });
    return { asking, deciding, running };
  });
  // To claim it, also who votes for whom.
  expect(counts).toEqual(cycleOf({ asking: 1, running: 2 }));
});

test("the remote gate reads the key and the call for each command", async () => {
  const { counting, engine } = open();
  const counts = await second(async (key) => {
    const ref = { by: "bot", key };
    const asking = await counting.during(() => engine.callers.propose(requestOf(key)));
    const deciding = await counting.during(await approval(engine));
    const running = await counting.during(async () => {
      const { claim } = await engine.callers.claim(ref, { leaseMs: 60_000 });
      if (claim === undefined) throw new Error("It cannot be claimed.");
      await engine.callers.end(ref, claim, { kind: "succeeded", result: "paid" });
    });
    return { asking, deciding, running };
  });
  // To claim it, also who votes for whom.
  expect(counts).toEqual(cycleOf({ asking: 1, running: 5 }));
});

/** How often an adapter looks before the model waits, and to go on: to find out whether it can, and in the framework. */
const READS: { readonly [adapter: string]: { readonly asking: number; readonly running: number } } = {
  "ai-sdk": { asking: 1, running: 4 },
  langchain: { asking: 1, running: 3 },
  "openai-agents": { asking: 1, running: 3 },
};

test.each(SUBJECTS.filter(({ name }) => Object.hasOwn(READS, name)))(
  "$name reads the call once for each time that the framework asks",
  async (subject) => {
    const { counting, engine } = open();
    const counts = await second((thread) => adapterCycle(subject, { counting, engine, thread }));
    expect(counts).toEqual(cycleOf(READS[subject.name] ?? { asking: 0, running: 0 }));
  },
);

async function adapterCycle(
  subject: AdapterSubject,
  at: { readonly counting: CountingLedger; readonly engine: Engine; readonly thread: string },
): Promise<Cycle> {
  const { counting, engine, thread } = at;
  const world: World = {
    engine,
    app: "shop",
    thread,
    description: "Pays an amount.",
    pay: async () => ({ paid: true }),
  };
  const host = subject.open(world);
  let state = "";
  const asking = await counting.during(async () => {
    const paused = await host.send([{ id: "c1", tool: "pay", args: { amount: 40 } }]);
    expect(paused.status).toBe("paused");
    ({ state } = paused);
  });
  const deciding = await counting.during(await approval(engine));
  const running = await counting.during(async () => {
    expect(await host.resume(state)).toMatchObject({ status: "done" });
  });
  return { asking, deciding, running };
}
