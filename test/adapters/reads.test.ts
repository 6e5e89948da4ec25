import { expect, test } from "vitest";
import type { CallRequest } from "../../src/engine/index.ts";
import { useResources } from "../support/resources.ts";
import {
  ADAPTER_READS,
  countedCycle,
  countedEngine,
  cycleOf,
  decisionOf,
  secondOf,
} from "./contract/counted-cycle.ts";
import { SUBJECTS } from "./subjects/index.ts";

const resources = useResources();

function requestOf(key: string): CallRequest {
  const asked = { tool: "pay", description: "Pays an amount.", approvers: { users: ["ana"] } };
  return { by: { id: "bot", kind: "agent" }, app: "shop", thread: key, key, args: { amount: 40 }, ...asked };
}

test("the gate without a framework reads the call once for each command", async () => {
  const counted = countedEngine(resources);
  const { counting, engine } = counted;
  const counts = await secondOf(async (key) => {
    const asking = await counting.during(() => engine.callers.propose(requestOf(key)));
    const deciding = await decisionOf(counted);
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
  const counted = countedEngine(resources);
  const { counting, engine } = counted;
  const counts = await secondOf(async (key) => {
    const ref = { by: "bot", key };
    const asking = await counting.during(() => engine.callers.propose(requestOf(key)));
    const deciding = await decisionOf(counted);
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

test.each(SUBJECTS.filter(({ name }) => Object.hasOwn(ADAPTER_READS, name)))(
  "$name reads the call once for each time that the framework asks",
  async (subject) => {
    const reads = ADAPTER_READS[subject.name] ?? { asking: 0, running: 0 };
    expect(await countedCycle(subject, countedEngine(resources))).toEqual(cycleOf(reads));
  },
);
