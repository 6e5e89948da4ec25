import { expect, test } from "vitest";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import { Engine, resumeLedger, suspendLedger } from "../../engine/index.ts";
import { Agent, createLedger, Runner, type RunnerOptions, tool } from "../../index.ts";

const makeRunner = useRunners();
const resources = useResources();
const ana = { user: "ana", session: "s" } as const;

/** A runner whose questions are withdrawn by a new message. One question is open. */
async function asked(options: Partial<RunnerOptions> = {}) {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute: () => "paid" });
  const agent = new Agent({ name: "a", model: play([call("pay", {}, "c1")], "Never mind."), tools: [pay] });
  const runner = makeRunner({ ...options, agent, ledger, whilePending: "cancel" });
  const [open] = (await runner.send("pay", ana)).pending;
  const stillOpen = async (): Promise<boolean> => {
    const [left] = await runner.pending();
    return left !== undefined && left.id === open?.id;
  };
  return { ledger, agent, runner, stillOpen };
}

test("a message that a suspended ledger refuses withdraws nothing", async () => {
  const { ledger, runner, stillOpen } = await asked();
  await suspendLedger(ledger.items, {});
  await expect(runner.send("something else", ana)).rejects.toMatchObject({ code: "suspended" });
  expect(await stillOpen()).toBe(true);
  await resumeLedger(ledger.items);
  expect(await runner.send("something else", ana)).toMatchObject({ text: "Never mind.", pending: [] });
});

test("a message over the quota withdraws nothing", async () => {
  const { ledger, agent, stillOpen } = await asked();
  const engine = new Engine({ ledger, quota: { bytes: 0 } });
  resources.add(() => engine.close());
  const full = new Runner({ agent, engine, whilePending: "cancel" });
  resources.add(() => full.close());
  await expect(full.send("something else", ana)).rejects.toMatchObject({ code: "over-quota" });
  expect(await stillOpen()).toBe(true);
});

test("a message that the session has no room for withdraws nothing", async () => {
  const { runner, stillOpen } = await asked({ maxSessionBytes: 20_000 });
  const long = "x".repeat(20_000);
  await expect(runner.send(long, ana)).rejects.toMatchObject({ code: "session-full" });
  expect(await stillOpen()).toBe(true);
});
