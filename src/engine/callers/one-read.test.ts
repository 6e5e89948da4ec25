import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type PrincipalInput, toPrincipal } from "../people/principal.ts";
import { type WatchedLedger, watch } from "../testing/execution.ts";
import type { CallRequest } from "./caller-calls.ts";

const bot = toPrincipal({ id: "bot", kind: "agent", authenticated: true, scopes: ["propose"] });
const ana: PrincipalInput = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] };
const mine = { by: "bot", key: "order-17" };

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  watched = watch(ledger);
  engine = new Engine({ ledger: watched.ledger, clock });
});

afterEach(() => engine.close());

function request(more: Partial<CallRequest> = {}): CallRequest {
  return { by: bot, app: "shop", tool: "refund", args: { amount: 40 }, key: mine.key, ...more };
}

async function askMany(asking: Engine, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await asking.callers.propose(request({ key: `k${n}`, thread: `t${n}` }));
}

/** Another process on the same ledger. */
function elsewhere(): Engine {
  const other = new Engine({ ledger, clock });
  onTestFinished(() => other.close());
  return other;
}

describe("a key is stored with its call", () => {
  test("if the question could not be stored, the key is free for another call", async () => {
    const lost = new Error("the disk is full");
    watched.intercept("commit", () => Promise.reject(lost));
    await expect(engine.callers.propose(request())).rejects.toBe(lost);
    watched.lift("commit");
    const other = request({ tool: "charge", app: "bank" });
    expect(await engine.callers.propose(other)).toMatchObject({ status: "pending", tool: "charge" });
  });

  test("one that is used for two threads at once names one call, and asks once", async () => {
    const both = ["t1", "t2"].map((thread) => engine.callers.propose(request({ thread })));
    const results = await Promise.allSettled(both);
    const refused = results.filter(({ status }) => status === "rejected");
    expect(refused).toMatchObject([{ reason: { code: "key-reused" } }]);
    expect(await engine.pending()).toHaveLength(1);
  });

  test("two processes that ask for the same call at once ask one question", async () => {
    const both = [engine, elsewhere()].map(({ callers }) => callers.propose(request({ thread: "t1" })));
    const [one, other] = await Promise.all(both);
    expect(one?.confirmation?.id).toBe(other?.confirmation?.id);
    expect(await engine.pending()).toHaveLength(1);
  });

  test("a key whose call did not come to be can still be used for it, and for no other", async () => {
    await engine.callers.propose(request());
    const [item] = (await ledger.items.list("call-key")).items;
    // As a ledger has it that stored keys before their calls, and whose process died in between.
    const later = await createLedger("memory:", { clock });
    await later.items.put({ kind: "call-key", id: item?.id ?? "", value: item?.value ?? null }, 0);
    const again = new Engine({ ledger: later, clock });
    onTestFinished(() => again.close());
    const other = again.callers.propose(request({ thread: "t2" }));
    await expect(other).rejects.toMatchObject({ code: "key-reused" });
    expect(await again.callers.propose(request())).toMatchObject({ status: "pending" });
    expect(await again.callers.read(mine)).toMatchObject({ status: "pending" });
  });
});

describe("a call that must have been asked about", () => {
  test("is refused if nobody was, and nothing is stored", async () => {
    const only = request({ onlyRepeat: true });
    await expect(engine.callers.propose(only)).rejects.toMatchObject({ code: "unknown-call" });
    const run = engine.callers.run(only, async () => "ran");
    await expect(run).rejects.toMatchObject({ code: "unknown-call" });
    expect(watched.count("commit")).toBe(0);
    expect((await ledger.items.list("call-key")).items).toEqual([]);
  });

  test("is found with its arguments, and no other", async () => {
    const { id } = await engine.callers.propose(request());
    expect(await engine.callers.propose(request({ onlyRepeat: true }))).toMatchObject({ id });
    const other = engine.callers.propose(request({ onlyRepeat: true, args: { amount: 4 } }));
    await expect(other).rejects.toMatchObject({ code: "key-reused" });
  });
});

test("a call is found by its thread without its key, and in no other thread", async () => {
  await engine.callers.propose(request({ thread: "t1" }));
  expect(await engine.callers.find({ ...mine, in: { app: "shop", thread: "t1" } })).toBeDefined();
  expect(await engine.callers.find({ ...mine, in: { app: "shop", thread: "t2" } })).toBeUndefined();
  expect(await engine.callers.find({ ...mine, in: { app: "bank", thread: "t1" } })).toBeUndefined();
  expect(await engine.callers.find({ by: "eve", key: mine.key, in: { app: "shop", thread: "t1" } })).toBe(
    undefined,
  );
});

describe("between the look of a command and its commit", () => {
  test.each([
    ["it is withdrawn", (other: Engine) => other.callers.cancel(mine, "not needed"), "cancelled"],
    ["it is claimed elsewhere", (other: Engine) => other.callers.claim(mine, { leaseMs: 1 }), "unknown"],
  ])("%s: it does not run here", async (_what, happens, status) => {
    const { confirmation } = await engine.callers.propose(request());
    await engine.approve(confirmation?.id ?? "", { by: ana });
    const other = elsewhere();
    watched.intercept("commit", async (pass) => {
      watched.lift("commit");
      await happens(other);
      await clock.advance(1_000);
      return pass();
    });
    let ran = 0;
    const outcome = await engine.callers.run(request(), async () => {
      ran += 1;
      return "ran";
    });
    expect({ ran, status: outcome.status }).toEqual({ ran: 0, status });
  });

  test("another caller has claimed it: the second claim is refused", async () => {
    const { confirmation } = await engine.callers.propose(request());
    await engine.approve(confirmation?.id ?? "", { by: ana });
    const other = elsewhere();
    watched.intercept("commit", async (pass) => {
      watched.lift("commit");
      await other.callers.claim(mine, { leaseMs: 60_000 });
      return pass();
    });
    const { claim, outcome } = await engine.callers.claim(mine, { leaseMs: 60_000 });
    expect({ claim, status: outcome.status }).toEqual({ claim: undefined, status: "executing" });
  });
});

describe("the open questions of one user", () => {
  test("that another process asks are counted after some seconds", async () => {
    await engine.callers.propose(request());
    await askMany(elsewhere(), 99);
    const next = request({ key: "next" });
    await clock.advance(5_000);
    await expect(engine.callers.propose(next)).rejects.toMatchObject({ code: "too-many-open" });
  });

  test("are counted again before somebody is refused: some may be answered", async () => {
    await askMany(engine, 100);
    const [open] = await engine.pending();
    await elsewhere().deny(open?.id ?? "", { by: ana });
    expect(await engine.callers.propose(request({ key: "next" }))).toMatchObject({ status: "pending" });
    const full = engine.callers.propose(request({ key: "over" }));
    await expect(full).rejects.toMatchObject({ code: "too-many-open" });
  });

  test("are counted once for many questions", async () => {
    await askMany(engine, 50);
    expect(watched.count("confirmations")).toBe(1);
  });
});

describe.each(["memory", "sqlite"])("what a command answers is what the ledger says (%s)", (store) => {
  const long = "x".repeat(20_000);
  const cases: readonly (readonly [string, Partial<CallRequest>])[] = [
    ["plain", {}],
    [
      "with a schema, a note and a deadline",
      { schema: { type: "object" }, note: "Twice.", expiresInMs: 9e6 },
    ],
    ["with secrets", { args: { amount: 40, card: "4111" }, secrets: ["/card"] }],
    ["long", { args: { amount: 40, text: long } }],
    ["with approvers", { approvers: { users: ["ana"] }, thread: "t1", turn: "turn-1" }],
    ["without a question", { requireConfirmation: false }],
  ];

  test.each(cases)("%s", async (_what, more) => {
    const folder = mkdtempSync(join(tmpdir(), "one-read-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const url = store === "memory" ? "memory:" : `sqlite:${join(folder, "ledger.db")}`;
    const here = new Engine({ ledger: await createLedger(url) });
    onTestFinished(() => here.close());
    for (const key of ["run", "claim"]) {
      const asked = request({ amendable: true, ...more, key, ...(more.thread && { thread: key }) });
      const ref = { by: "bot", key };
      const proposed = await here.callers.propose(asked);
      expect(await here.callers.read(ref)).toEqual(proposed);
      const args = key === "run" ? asked.args : { ...asked.args, amount: 20 };
      const { confirmation } = proposed;
      if (confirmation !== undefined) await here.approve(confirmation.id, { by: ana, args });
      if (key === "run") {
        const ran = await here.callers.run(asked, async () => ({ text: long }));
        expect(ran).toMatchObject({ status: "succeeded", result: { text: long } });
        expect(await here.callers.read(ref)).toEqual(ran);
        continue;
      }
      const { claim, outcome } = await here.callers.claim(ref, { leaseMs: 60_000 });
      expect(await here.callers.read(ref)).toEqual(outcome);
      const proof = { token: claim?.token ?? "", attempt: claim?.attempt ?? 0 };
      const ended = await here.callers.end(ref, proof, { kind: "failed", error: { error: long } });
      expect(await here.callers.read(ref)).toEqual(ended);
    }
  });
});
