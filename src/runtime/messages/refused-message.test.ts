import { expect, test } from "vitest";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import { Engine, resumeLedger, suspendLedger } from "../../engine/index.ts";
import { watch } from "../../engine/testing/execution.ts";
import { Agent, createLedger, Runner, type RunnerOptions, tool } from "../../index.ts";

const makeRunner = useRunners();
const resources = useResources();
const ana = { user: "ana", session: "s" } as const;

/** A runner whose questions are withdrawn by a new message. One question is open. */
async function asked(options: Partial<RunnerOptions> = {}) {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const watched = watch(ledger);
  const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute: () => "paid" });
  const agent = new Agent({ name: "a", model: play([call("pay", {}, "c1")], "Never mind."), tools: [pay] });
  const runner = makeRunner({ ...options, agent, ledger: watched.ledger, whilePending: "cancel" });
  const [open] = (await runner.send("pay", ana)).pending;
  const stillOpen = async (): Promise<boolean> => {
    const { items } = await ledger.confirmations({ state: "open" });
    return items.some(({ confirmation }) => confirmation.id === open?.id);
  };
  return { ledger, watched, agent, runner, stillOpen };
}

test("a message that a suspended ledger refuses withdraws nothing", async () => {
  const { ledger, runner, stillOpen } = await asked();
  await suspendLedger(ledger.items, {});
  await expect(runner.send("something else", ana)).rejects.toMatchObject({ code: "suspended" });
  expect(await stillOpen()).toBe(true);
  await resumeLedger(ledger.items);
  expect(await runner.send("something else", ana)).toMatchObject({ text: "Never mind.", pending: [] });
});

test("a message whose ledger is suspended in the moment of its commit withdraws nothing", async () => {
  const { ledger, watched, runner, stillOpen } = await asked();
  watched.intercept("commit", async (pass) => {
    watched.lift("commit");
    await suspendLedger(ledger.items, {});
    return pass();
  });
  await expect(runner.send("something else", ana)).rejects.toMatchObject({ code: "suspended" });
  expect(await stillOpen()).toBe(true);
});

test("a message is stored in the commit that withdraws the questions, so that no crash comes between", async () => {
  const { ledger, watched, runner, stillOpen } = await asked();
  const { key } = (await ledger.load({ session: { app: "a", user: "ana", id: "s" } }))?.session ?? {
    key: "",
  };
  const left: unknown[] = [];
  watched.intercept("commit", async (pass) => {
    watched.lift("commit");
    const outcome = await pass();
    // What is there if the process dies now.
    left.push(await stillOpen(), (await ledger.events(key, { last: 1 }))[0]?.content?.parts);
    return outcome;
  });
  await runner.send("something else", ana);
  expect(left).toEqual([false, [{ text: "something else" }]]);
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
