import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../stores/index.ts";
import { ManualClock } from "./common/manual-clock.ts";
import { Engine } from "./engine.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { hostOf, killableEngine, until } from "./testing/execution.ts";

const ana = { id: "ana" };
const use = { key: "k", by: ana };

let folder: string;
let url: string;
let clock: ManualClock;
const opened: Ledger[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  url = `sqlite:${join(folder, "ledger.db")}`;
  clock = new ManualClock();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
  rmSync(folder, { recursive: true });
});

async function open(): Promise<Ledger> {
  const ledger = await createLedger(url, { clock });
  opened.push(ledger);
  return ledger;
}

describe("an engine", () => {
  test("refuses an empty secret: that is a mistake, not a choice", async () => {
    const ledger = await open();
    expect(() => new Engine({ ledger, secret: "" })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });

  test("hosts an app once", async () => {
    const engine = new Engine({ ledger: await open(), clock });
    engine.host(hostOf("bank", {}));
    expect(() => engine.host(hostOf("bank", {}))).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });

  test("does nothing by itself: no look at the ledger, no heartbeat, until it is used", async () => {
    const { engine, watched } = killableEngine(await open(), clock);
    engine.gate("pay", { requireConfirmation: true }, async () => 1);
    await clock.advance(1_000_000);
    expect(watched.calls).toEqual([]);
  });

  test("decides many, each on its own: one that is refused does not touch the others", async () => {
    const engine = new Engine({ ledger: await open(), clock });
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const ids: string[] = [];
    for (const key of ["a", "b", "c"]) {
      const outcome = await pay({}, { key, by: ana });
      if (outcome.status === "pending") ids.push(outcome.confirmation.id);
    }
    await engine.deny(ids[1] ?? "", { by: ana });
    const results = await engine.decide(
      [...ids, "adk-nobody"].map((id) => ({ id, confirmed: true })),
      { by: ana },
    );
    expect(results.map((result) => (result.ok ? "ok" : result.code))).toEqual([
      "ok",
      "already-decided",
      "ok",
      "unknown-confirmation",
    ]);
    await engine.close();
  });
});

describe("finished", () => {
  test("resolves in a process that does not run the call, as soon as the other has recorded its end", async () => {
    const here = new Engine({ ledger: await open(), clock });
    const there = new Engine({ ledger: await open(), clock });
    const { promise, resolve } = Promise.withResolvers<string>();
    let callId = "";
    const slow = there.gate("slow", {}, (_args, { idempotencyKey }) => {
      callId = idempotencyKey;
      return promise;
    });
    const outcome = slow({}, use);
    await until(clock, () => callId !== "");
    const finished = here.finished(callId);
    resolve("done");
    expect(await finished).toMatchObject({ status: "succeeded", result: "done" });
    await outcome;
  });

  test("resolves at once for a call that has ended, and when its outcome is unknown", async () => {
    const engine = new Engine({ ledger: await open(), clock });
    let callId = "";
    const run = engine.gate("run", {}, async (_args, context) => {
      callId = context.idempotencyKey;
      return 1;
    });
    await run({}, use);
    expect(await engine.finished(callId)).toMatchObject({ status: "succeeded" });
  });

  test("of a call that does not exist says so", async () => {
    const engine = new Engine({ ledger: await open(), clock });
    await expect(engine.finished("nobody")).rejects.toMatchObject({ code: "unknown-call" });
  });

  test("belongs to a decision, costs nothing until it is read, and is not part of what is printed", async () => {
    const { engine, watched } = killableEngine(await open(), clock);
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const outcome = await pay({}, use);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    const decided = await engine.approve(outcome.confirmation.id, { by: ana });
    expect(Object.keys(decided)).not.toContain("finished");
    expect(watched.count("onChange")).toBe(0);
    expect(await decided.finished).toMatchObject({
      id: outcome.confirmation.id,
      status: "succeeded",
      result: "paid",
    });
  });
});

describe("close", () => {
  test("finishes what runs, gives up the lease, and closes the ledger", async () => {
    const ledger = await open();
    const engine = new Engine({ ledger: await open(), clock });
    const { promise, resolve } = Promise.withResolvers<string>();
    let callId = "";
    const slow = engine.gate("slow", {}, (_args, { idempotencyKey }) => {
      callId = idempotencyKey;
      return promise;
    });
    slow({}, use).catch(() => {});
    await until(clock, () => callId !== "");
    const owner = (await ledger.calls([callId]))[0]?.owner ?? "";
    const closed = engine.close();
    await clock.advance(0);
    expect(await ledger.owners.get(owner)).toMatchObject({ alive: true });
    resolve("done");
    await closed;
    expect(await ledger.calls([callId])).toMatchObject([{ status: "succeeded", result: "done" }]);
    expect(await ledger.owners.get(owner)).toMatchObject({ alive: false });
    await expect(engine.ledger.calls([callId])).rejects.toMatchObject({ code: "closed" });
  });

  test("stops its workers", async () => {
    const { engine, watched } = killableEngine(await open(), clock);
    const worker = engine.work();
    await clock.advance(0);
    await engine.close();
    const looks = watched.count("due");
    await clock.advance(1_000_000);
    expect(watched.count("due")).toBe(looks);
    await worker.stop();
  });

  test("also waits for a tool that is about to word a denial", async () => {
    const ledger = await open();
    const engine = new Engine({ ledger: await open(), clock });
    const words = engine.gate("words", { onDenied: "invoke" }, async (_args, context) => {
      if (context.toolConfirmation === undefined) context.requestConfirmation();
      return "worded";
    });
    const outcome = await words({}, use);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await engine.deny(outcome.confirmation.id, { by: ana });
    await engine.close();
    expect(await ledger.calls([outcome.callId])).toMatchObject([{ status: "denied", result: "worded" }]);
  });
});
