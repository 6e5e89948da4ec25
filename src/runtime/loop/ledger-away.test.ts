import { expect, test } from "vitest";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Commit } from "../../engine/index.ts";
import { watch } from "../../engine/testing/execution.ts";
import { Agent, CountersignError, createLedger, tool } from "../../index.ts";

const makeRunner = useRunners();
const resources = useResources();

/** A run whose model calls a tool, after calls that are refused, on a ledger that cannot be reached when it is to be stored. */
async function runOn(outages: number, { refusedFirst = 0, maxLostAttempts = 5 } = {}) {
  const inner = await createLedger("memory:");
  resources.add(() => inner.close());
  const { ledger, intercept } = watch(inner);
  let left = outages;
  intercept("commit", (pass, [commit]) => {
    const isTurn = (commit as Commit).writes.some(
      (write) => write.kind === "call-insert" && write.call.tool === "look",
    );
    if (!isTurn || left === 0) return pass();
    left -= 1;
    throw new CountersignError("ledger-unreachable", "The server does not answer.");
  });
  const ran: string[] = [];
  const look = tool({ name: "look", description: "", execute: () => void ran.push("look") });
  const asks = [call("look", {}, "c1")];
  const refused = Array.from({ length: refusedFirst }, (_, at) => [call("gone", {}, `g${at}`)]);
  const model = play(
    ...refused,
    ...Array.from({ length: Math.min(outages, maxLostAttempts) }, () => asks),
    asks,
    "Seen.",
  );
  const runner = makeRunner({
    agent: new Agent({ name: "a", model, tools: [look] }),
    ledger,
    maxLostAttempts,
  });
  return { turn: await runner.send("look", { user: "ana", session: "s" }), ran, model };
}

test("a step during which the ledger cannot be reached is taken again, and its calls run once", async () => {
  const { turn, ran, model } = await runOn(2);
  expect(turn).toMatchObject({ status: "completed", text: "Seen." });
  expect([ran, model.requests.length]).toEqual([["look"], 4]);
});

test("so is a later step of the same run, after calls that were answered at once", async () => {
  const { turn, ran, model } = await runOn(1, { refusedFirst: 2 });
  expect(turn).toMatchObject({ status: "completed", text: "Seen." });
  expect([ran, model.requests.length]).toEqual([["look"], 5]);
});

test("a step that the ledger never takes fails, and says why", async () => {
  const { turn, ran, model } = await runOn(Number.POSITIVE_INFINITY, { maxLostAttempts: 2 });
  expect(turn).toMatchObject({ status: "failed" });
  expect(JSON.stringify(turn)).toContain("The server does not answer.");
  expect([ran, model.requests.length]).toEqual([[], 2]);
});
