import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../engine.ts";
import { partsOf, receiveMessage, recordTurn } from "../index.ts";
import { ask, hostOf, message, modelSays, planned, toolOf } from "../testing/execution.ts";

const ana = { id: "ana" };
const places = (): readonly string[] => [
  "memory:",
  `sqlite:${join(mkdtempSync(join(tmpdir(), "rival-")), "l.db")}`,
];

test.each(places())("a stored result is nobody's to change: %s", async (url) => {
  const ledger = await createLedger(url);
  const engine = new Engine({ ledger });
  const tool = engine.gate("look", {}, async () => ({ list: [1] }));
  await tool({}, { key: "k", by: ana });
  const again = ((await tool({}, { key: "k", by: ana })) as { result: unknown }).result as { list: number[] };
  again.list.push(2);
  expect(await tool({}, { key: "k", by: ana })).toMatchObject({ result: { list: [1] } });
  await engine.close();
  await ledger.close();
});

test.each(places())("a shown question is nobody's to change: %s", async (url) => {
  const ledger = await createLedger(url);
  const engine = new Engine({ ledger });
  const tool = engine.gate(
    "pay",
    { requireConfirmation: true, approvers: { roles: ["boss"] } },
    async () => "paid",
  );
  tool({}, { key: "k", by: ana, wait: false } as never).catch(() => {});
  await expect.poll(async () => (await ledger.confirmations({ state: "open" })).items.length).toBe(1);
  const [item] = (await ledger.confirmations({ state: "open" })).items;
  const view = (await engine.confirmation(item?.confirmation.id ?? "")) as unknown as {
    requirements: { from: { roles: string[] } }[];
    requesters: string[];
  };
  view.requirements[0]?.from.roles.push("everybody");
  view.requesters.length = 0;
  const stored = await ledger.load({ confirmation: item?.confirmation.id ?? "" });
  expect(stored?.confirmation).toMatchObject({
    requirements: [{ from: { roles: ["boss"] } }],
    requesters: ["ana"],
  });
  await engine.close();
  await ledger.close();
});

test("what somebody does to a question that was shown to them is not written to the file", async () => {
  const url = `sqlite:${join(mkdtempSync(join(tmpdir(), "rival-")), "l.db")}`;
  const ledger = await createLedger(url);
  const engine = new Engine({ ledger });
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = toolOf(() => promise);
  engine.host(
    hostOf("bank", { slow, pay: toolOf(() => "paid") }, async (frame) => {
      if (frame.turn > 0) return;
      const calls = [planned("a", "slow", { kind: "run", tool: slow }), planned("b", "pay", ask())];
      await recordTurn(partsOf(engine), frame, { event: modelSays("go"), calls });
    }),
  );
  const received = await receiveMessage(
    partsOf(engine),
    message({ app: "bank", user: "ana", id: "s" }, "go"),
  );
  if (!received.ok) throw new Error(received.message);
  partsOf(engine).executions.step(received.frame);
  await expect.poll(async () => (await ledger.confirmations({ state: "open" })).items.length).toBe(1);
  const [item] = (await ledger.confirmations({ state: "open" })).items;
  const id = item?.confirmation.id ?? "";
  const view = (await engine.confirmation(id)) as unknown as { requesters: string[] };
  view.requesters[0] = "bob";
  resolve("done");
  await partsOf(engine).executions.idle();
  const other = await createLedger(url);
  expect((await other.load({ confirmation: id }))?.confirmation?.requesters).toEqual(["ana"]);
  await other.close();
  await engine.close();
  await ledger.close();
});
