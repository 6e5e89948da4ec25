import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Engine } from "../../engine/index.ts";
import { tryApprove } from "../../engine/testing/try-decide.ts";
import { createLedger } from "../index.ts";

const ana = { id: "ana" };

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  path = join(folder, "ledger.db");
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const FILES = ["", "-wal", "-shm"];

/** What is left of any of these in the file, its log and its shared memory. */
function leftOf(marker: RegExp): ReadonlySet<string> {
  const found = FILES.map((suffix) => `${path}${suffix}`)
    .filter(existsSync)
    .flatMap((file) => readFileSync(file).toString("latin1").match(marker) ?? []);
  return new Set(found);
}

/** Sessions with content of every size in arguments, hints, reasons and results, half of them done with. */
async function fill(engine: Engine, count: number): Promise<readonly string[]> {
  const pay = engine.gate(
    "pay",
    { requireConfirmation: true, confirmationHint: ({ text }: { text: string }) => `hint ${text}` },
    async ({ text }) => `result ${text}`,
  );
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const id = String(i).padStart(4, "0");
    // Some fit on a page with others, some take many pages of their own.
    const text = `MARK${id} `.repeat(1 + ((i * 37) % 400));
    const outcome = await pay({ text }, { key: id, by: ana });
    if (outcome.status !== "pending") continue;
    const { id: confirmation } = outcome.confirmation;
    if (i % 3 === 0) await engine.deny(confirmation, { by: ana, reason: `no MARK${id}` });
    else {
      const receipt = await tryApprove(engine, confirmation, { by: ana });
      if (receipt.ok) await receipt.finished;
    }
    ids.push(id);
  }
  await engine.ledger.confirmations({ state: "open", words: "mark" });
  return ids;
}

describe("what was erased", () => {
  test("is in none of the ledger's files any more", async () => {
    const ledger = await createLedger(`sqlite:${path}`);
    const engine = new Engine({ ledger });
    const ids = await fill(engine, 120);
    expect(leftOf(/MARK\d{4}/g).size).toBe(ids.length);
    const erased = ids.filter((_, index) => index % 2 === 0);
    for (const id of erased) await engine.deleteSession({ app: "gate:pay", user: "gate", id }, ana);
    await ledger.tidy();
    const left = leftOf(/MARK\d{4}/g);
    expect(erased.filter((id) => left.has(`MARK${id}`))).toEqual([]);
    expect(left.size).toBe(ids.length - erased.length);
    await engine.close();
    expect(erased.filter((id) => leftOf(/MARK\d{4}/g).has(`MARK${id}`))).toEqual([]);
  });

  test("is soon gone from the log of a ledger that nobody tidies or closes", async () => {
    const ledger = await createLedger(`sqlite:${path}`);
    const engine = new Engine({ ledger });
    await fill(engine, 3);
    for (const id of ["0000", "0001", "0002"])
      await engine.deleteSession({ app: "gate:pay", user: "gate", id }, ana);
    await expect.poll(() => leftOf(/MARK\d{4}/g).size).toBe(0);
    await engine.close();
  });

  test("is gone when pruning is done, also while another process has the ledger open", async () => {
    const other = await createLedger(`sqlite:${path}`);
    const ledger = await createLedger(`sqlite:${path}`);
    const engine = new Engine({ ledger });
    await fill(engine, 30);
    await expect(engine.prune(-1_000)).resolves.toBe(30);
    expect(leftOf(/MARK\d{4}/g).size).toBe(0);
    await engine.close();
    await other.close();
  });

  test("is gone when the ledger is closed right after, also while another process has it open", async () => {
    const other = await createLedger(`sqlite:${path}`);
    const engine = new Engine({ ledger: await createLedger(`sqlite:${path}`) });
    await fill(engine, 3);
    for (const id of ["0000", "0001", "0002"])
      await engine.deleteSession({ app: "gate:pay", user: "gate", id }, ana);
    await engine.close();
    expect(leftOf(/MARK\d{4}/g).size).toBe(0);
    await other.close();
  });
});
