import { expect, test } from "vitest";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import { resumeLedger, suspendLedger } from "../../engine/index.ts";
import { Agent, createLedger, tool } from "../../index.ts";

const makeRunner = useRunners();
const resources = useResources();

test("a run whose model thinks while its ledger is suspended goes on when it is resumed, and runs once", async () => {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const ran: string[] = [];
  const look = tool({ name: "look", description: "", execute: () => void ran.push("look") });
  const asks = [call("look", {}, "c1")];
  const suspending = async () => {
    await suspendLedger(ledger.items, {});
    return asks;
  };
  const model = play(suspending, asks, "Seen.");
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [look] }), ledger });
  const answered = runner.send("look", { user: "ana", session: "s" });
  answered.catch(() => {});
  await expect
    .poll(() => ledger.due([{ app: "a" }], 10), { timeout: 20_000 })
    .toMatchObject({ readyFrames: [expect.any(String)] });
  await runner.work({ once: true });
  expect([ran, model.requests.length]).toEqual([[], 1]);
  await resumeLedger(ledger.items);
  await runner.work({ once: true });
  expect(await answered).toMatchObject({ status: "completed", text: "Seen." });
  expect(ran).toEqual(["look"]);
});
