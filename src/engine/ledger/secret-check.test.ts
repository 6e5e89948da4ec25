import { afterEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../engine.ts";
import type { Ledger } from "./ledger.ts";

const ana = { id: "ana" };
let ledger: Ledger;

afterEach(async () => {
  await ledger.close();
});

function payThrough(secret?: string) {
  const engine = new Engine({ ledger, ...(secret === undefined ? {} : { secret }) });
  return engine.gate("pay", { requireConfirmation: true }, async () => "paid");
}

test("a process with another secret, or with none, cannot write to a ledger that was begun with one", async () => {
  ledger = await createLedger("memory:");
  expect(await payThrough("s1")({}, { key: "a", by: ana })).toMatchObject({ status: "pending" });
  expect(await payThrough("s1")({}, { key: "b", by: ana })).toMatchObject({ status: "pending" });
  for (const secret of ["s2", undefined]) {
    await expect(payThrough(secret)({}, { key: "c", by: ana })).rejects.toThrow(
      "created with a different secret",
    );
  }
  expect((await ledger.confirmations({ state: "open" })).items).toHaveLength(2);
});

test("a ledger that was created without a secret refuses one", async () => {
  ledger = await createLedger("memory:");
  await payThrough()({}, { key: "a", by: ana });
  await expect(payThrough("s1")({}, { key: "b", by: ana })).rejects.toThrow("created without a secret");
});

test("a process with another secret cannot seal the journal either, so that it still verifies", async () => {
  ledger = await createLedger("memory:");
  await payThrough("s1")({}, { key: "a", by: ana });
  for (const options of [{}, { secret: "s2" }]) {
    const stranger = new Engine({ ledger, ...options });
    await expect(stranger.head()).rejects.toThrow("created with a different secret");
    await stranger.work({ once: true });
  }
  expect(await ledger.journal.lastCheckpoint()).toBeUndefined();
  const own = new Engine({ ledger, secret: "s1" });
  const head = await own.head();
  expect(await own.verify({ head })).toMatchObject({ ok: true, checkpoints: 1 });
});
