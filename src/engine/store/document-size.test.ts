import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { MemoryStore } from "../../stores/memory/memory-store.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { buildCall, buildFrame, SessionWriter } from "../ledger/contract/build.ts";
import { DocumentLedger } from "./document-ledger.ts";
import type { StoreCommit } from "./store.ts";

const resources = useResources();

/** A ledger that notes the rows of each document that it writes. */
function open(): { readonly ledger: DocumentLedger; readonly sizes: number[] } {
  const store = new MemoryStore(new ManualClock());
  const sizes: number[] = [];
  const commit = store.commit.bind(store);
  store.commit = (given: StoreCommit) => {
    const { calls, steps, confirmations, frames } = given.document;
    sizes.push(calls.length + steps.length + confirmations.length + frames.length);
    return commit(given);
  };
  const ledger = new DocumentLedger(store);
  resources.add(() => ledger.close());
  return { ledger, sizes };
}

test("a call's steps leave the document while it runs, however many there are", async () => {
  const { ledger, sizes } = open();
  const writer = new SessionWriter(ledger, "s1");
  const call = buildCall("s1", "c", { status: "executing", owner: "o" });
  await writer.commit([{ kind: "call-insert", call }]);
  for (let i = 0; i < 200; i += 1) {
    const step = { call: call.id, kind: "step", name: `n${i}`, occurrence: 0, status: "started" } as const;
    await writer.commit([{ kind: "step", step }]);
    await writer.commit([{ kind: "step", step: { ...step, status: "done" }, from: "started" }]);
  }
  expect(Math.max(...sizes)).toBeLessThan(40);
  expect(await ledger.steps(call.id)).toHaveLength(200);
});

test("calls that ended leave the document while their turn goes on", async () => {
  const { ledger, sizes } = open();
  const writer = new SessionWriter(ledger, "s1");
  const calls = Array.from({ length: 100 }, (_, i) =>
    buildCall("s1", `c${i}`, { status: "executing", owner: "o", frame: "s1.f" }),
  );
  const ids = calls.map(({ id }) => id);
  await writer.commit([
    { kind: "frame-insert", frame: buildFrame("s1", "f", { status: "waiting", calls: ids }) },
    ...calls.map((call) => ({ kind: "call-insert" as const, call })),
  ]);
  for (const { id, attempt } of calls.slice(0, 90))
    await writer.commit([
      { kind: "call-update", id, from: "executing", attempt, set: { status: "succeeded" } },
    ]);
  expect(sizes.at(-1)).toBeLessThan(30);
});
