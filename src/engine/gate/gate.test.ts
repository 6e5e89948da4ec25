import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type JsonValue, RESERVED_NAMES } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { OutcomeUnknown } from "../calls/call-context.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Confirmation } from "../questions/confirmation.ts";
import { until } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";
import type { GateOutcome } from "./gate-outcome.ts";

const ana = { id: "ana" };
const boss = { id: "boss" };

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
});

afterEach(async () => {
  await engine.close();
});

function pendingOf(outcome: GateOutcome<unknown>): Confirmation & { readonly call: string } {
  if (outcome.status !== "pending") throw new Error(`It is ${outcome.status}, not pending.`);
  return { ...outcome.confirmation, call: outcome.callId };
}

describe("a gated function", () => {
  test("does not answer with what another function of its app did under the same key", async () => {
    const refund = engine.gate("refund", { app: "billing" }, async () => "refunded");
    const charge = engine.gate("charge", { app: "billing" }, async () => "charged");
    await refund({ order: 17 }, { key: "order-17", by: ana });
    await expect(charge({ order: 17 }, { key: "order-17", by: ana })).rejects.toMatchObject({
      code: "key-reused",
      message: "The key order-17 was already used for refund.",
    });
  });

  test("waits for a person, runs once approved, and answers every later use of its key with the result", async () => {
    const runs: unknown[] = [];
    const refund = engine.gate(
      "refund",
      { parameters: z.object({ amount: z.number() }), requireConfirmation: true },
      async ({ amount }, context) => {
        runs.push([amount, context.idempotencyKey, context.attempt]);
        return { refunded: amount };
      },
    );

    const first = await refund({ amount: 40 }, { key: "order-17", by: ana });
    expect(first.status).toBe("pending");
    expect(runs).toEqual([]);

    const receipt = await tryApprove(engine, pendingOf(first).id, { by: boss });
    expect(receipt).toMatchObject({ ok: true, repeated: false, confirmation: { status: "approved" } });
    if (!receipt.ok) throw new Error(receipt.message);
    expect(await receipt.finished).toMatchObject({
      status: "succeeded",
      result: { refunded: 40 },
      attempt: 1,
    });

    const again = { status: "succeeded", result: { refunded: 40 } };
    expect(await refund({ amount: 40 }, { key: "order-17", by: ana })).toEqual(again);
    expect(await refund({ amount: 40 }, { key: "order-17", by: boss })).toEqual(again);
    expect(runs).toEqual([[40, receipt.call.id, 1]]);
  });

  test("shows the same open question to every use of one key, also when they come at once", async () => {
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const uses = Array.from({ length: 20 }, () => pay({ n: 1 }, { key: "k", by: ana }));
    const ids = (await Promise.all(uses)).map((outcome) => pendingOf(outcome).id);
    expect(new Set(ids).size).toBe(1);
    expect((await ledger.confirmations({ state: "open" })).items).toHaveLength(1);
  });

  test("refuses a key that was used with other arguments, whatever has become of the first use", async () => {
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const { id } = pendingOf(await pay({ n: 1 }, { key: "k", by: ana }));
    const refused = { code: "key-reused", message: expect.stringContaining("k") as string };
    await expect(pay({ n: 2 }, { key: "k", by: ana })).rejects.toMatchObject(refused);
    await engine.deny(id, { by: boss });
    await expect(pay({ n: 2 }, { key: "k", by: ana })).rejects.toMatchObject(refused);
    // Equal as JSON is equal, whatever the order of members.
    const order = engine.gate("order", { requireConfirmation: true }, async () => "ok");
    await order({ a: 1, b: [2] }, { key: "k", by: ana });
    expect((await order({ b: [2], a: 1 }, { key: "k", by: ana })).status).toBe("pending");
  });

  test("keeps keys of different functions apart", async () => {
    const a = engine.gate("a", {}, async () => "a");
    const b = engine.gate("b", {}, async () => "b");
    expect(await a({}, { key: "k", by: ana })).toEqual({ status: "succeeded", result: "a" });
    expect(await b({}, { key: "k", by: ana })).toEqual({ status: "succeeded", result: "b" });
  });

  test("cannot be defined twice under one name in one engine", () => {
    engine.gate("pay", {}, async () => 1);
    expect(() => engine.gate("pay", {}, async () => 2)).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });

  test.each([...RESERVED_NAMES, "", "ADK_REQUEST_CONFIRMATION", "adk_request_anything"])(
    "cannot be called %j: the name is reserved",
    (name) => {
      expect(() => engine.gate(name, {}, async () => 1)).toThrow(
        expect.objectContaining({ code: "reserved-name" }),
      );
    },
  );
});

describe("whether a person is asked", () => {
  test("is left to the predicate, which sees the parsed arguments", async () => {
    const seen: unknown[] = [];
    const pay = engine.gate(
      "pay",
      {
        parameters: z.object({ amount: z.coerce.number() }),
        requireConfirmation: async (args) => {
          seen.push(args);
          return args.amount > 1000;
        },
      },
      async () => "paid",
    );
    const little = { amount: "5" } as unknown as { amount: number };
    expect(await pay(little, { key: "little", by: ana })).toEqual({ status: "succeeded", result: "paid" });
    expect((await pay({ amount: 5000 }, { key: "much", by: ana })).status).toBe("pending");
    expect(seen).toEqual([{ amount: 5 }, { amount: 5000 }]);
  });

  test("is yes when the predicate throws, rejects, or answers anything but false", async () => {
    const answers: readonly (() => unknown)[] = [
      () => {
        throw new Error("the rules are gone");
      },
      () => Promise.reject(new Error("the rules are away")),
      () => undefined,
      () => null,
      () => 0,
      () => "",
      () => "no",
      () => Promise.resolve(undefined),
    ];
    for (const [index, answer] of answers.entries()) {
      const gated = engine.gate(
        `f${index}`,
        { requireConfirmation: answer as () => boolean },
        async () => "ran",
      );
      expect((await gated({}, { key: "k", by: ana })).status, String(answer)).toBe("pending");
    }
  });

  test("is no only without a rule, or where the rule says false", async () => {
    const open = engine.gate("open", {}, async () => "ran");
    const flagged = engine.gate("flagged", { requireConfirmation: false }, async () => "ran");
    const judged = engine.gate("judged", { requireConfirmation: () => false }, async () => "ran");
    for (const gated of [open, flagged, judged]) {
      expect(await gated({}, { key: "k", by: ana })).toEqual({ status: "succeeded", result: "ran" });
    }
    expect((await ledger.confirmations({ state: "closed" })).items).toEqual([]);
  });

  test("without a question the body runs once, however many use the key at the same moment", async () => {
    let runs = 0;
    const report = engine.gate("report", {}, async () => ++runs);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => report({ of: "may" }, { key: "k", by: ana })),
    );
    expect(runs).toBe(1);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: "succeeded", result: 1 })));
  });
});

describe("what a person is shown", () => {
  test("is a default hint, or the author's, made from the parsed arguments", async () => {
    const plain = engine.gate("plain", { requireConfirmation: true }, async () => 1);
    const fixed = engine.gate(
      "fixed",
      { requireConfirmation: true, confirmationHint: "Really?" },
      async () => 1,
    );
    const made = engine.gate(
      "made",
      {
        parameters: z.object({ amount: z.number().default(7) }),
        requireConfirmation: true,
        confirmationHint: ({ amount }) => `Pay out $${amount}?`,
      },
      async () => 1,
    );
    const hints = [
      await plain({}, { key: "k", by: ana }),
      await fixed({}, { key: "k", by: ana }),
      await made({} as { amount: number }, { key: "k", by: ana }),
    ].map((outcome) => pendingOf(outcome).hint);
    expect(hints).toEqual(["Approve execution of tool plain?", "Really?", "Pay out $7?"]);
  });

  test("names the tool, who asked, and why a person is needed", async () => {
    const plain = engine.gate("plain", { requireConfirmation: true, expiresInMs: 60_000 }, async () => 1);
    const by = { id: "robot", kind: "token", onBehalfOf: "ana" } as const;
    expect(pendingOf(await plain({ a: 1 }, { key: "k", by }))).toMatchObject({
      status: "requested",
      tool: "plain",
      app: "gate:plain",
      user: "ana",
      requesters: ["robot", "ana"],
      requirements: [{ from: "requester", count: 1 }],
      round: 0,
      requestedAt: new Date(clock.now()).toISOString(),
      expiresAt: new Date(clock.now() + 60_000).toISOString(),
      why: ["the tool requires confirmation"],
    });
  });

  test("is what runs: defaults and coercions are applied once, before the question", async () => {
    let parses = 0;
    const runs: unknown[] = [];
    const pay = engine.gate(
      "pay",
      {
        parameters: z.object({
          amount: z.coerce.number(),
          note: z.string().transform((text) => `${text}, parsed ${++parses}`),
        }),
        requireConfirmation: true,
      },
      async (args) => {
        runs.push(args);
        return "paid";
      },
    );
    const sent = { amount: "12", note: "lunch" } as unknown as { amount: number; note: string };
    const { id, call } = pendingOf(await pay(sent, { key: "k", by: ana }));
    const [stored] = await ledger.calls([call]);
    expect(stored?.args).toEqual({ amount: 12, note: "lunch, parsed 1" });
    await engine.approve(id, { by: boss });
    await engine.finished(call);
    expect(runs).toEqual([{ amount: 12, note: "lunch, parsed 1" }]);
    expect(parses).toBe(1);
  });

  test("is the input where parsing gives something that is not JSON; the body gets it parsed", async () => {
    const runs: unknown[] = [];
    const book = engine.gate(
      "book",
      {
        parameters: z.object({ day: z.string().transform((text) => new Date(text)) }),
        requireConfirmation: true,
      },
      async ({ day }) => {
        runs.push(day);
        return day.toISOString();
      },
    );
    const sent = { day: "2026-05-01" } as unknown as { day: Date };
    const { id, call } = pendingOf(await book(sent, { key: "k", by: ana }));
    expect((await ledger.calls([call]))[0]).toMatchObject({ args: { day: "2026-05-01" }, unparsed: true });
    await engine.approve(id, { by: boss });
    expect((await engine.finished(call)).result).toBe("2026-05-01T00:00:00.000Z");
    expect(runs).toEqual([new Date("2026-05-01")]);
  });

  test("cannot be arguments that do not fit: they are refused before anything is stored", async () => {
    const typed = engine.gate("typed", { parameters: z.object({ n: z.number() }) }, async () => 1);
    const wrong = { n: "x" } as unknown as { n: number };
    await expect(typed(wrong, { key: "k", by: ana })).rejects.toMatchObject({
      code: "arguments-mismatch",
      details: { field: "n" },
    });
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
    const plain = engine.gate<{ n?: unknown }, number>("plain", { parameters: schema }, async () => 1);
    await expect(plain({}, { key: "k", by: ana })).rejects.toMatchObject({ code: "arguments-mismatch" });
    const any = engine.gate<unknown, number>("any", {}, async () => 1);
    for (const value of [1, "x", [1], null, { at: new Date() }, { big: 1n }]) {
      await expect(any(value, { key: "k", by: ana })).rejects.toMatchObject({ code: "arguments-mismatch" });
    }
    expect(await ledger.journal.streams("", 10)).toEqual([]);
    // The key is still free.
    expect(await typed({ n: 1 }, { key: "k", by: ana })).toEqual({ status: "succeeded", result: 1 });
  });
});

describe("the outcome", () => {
  test("of a denial is denied, with the reason where one was given, and the body is never entered", async () => {
    let runs = 0;
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => ++runs);
    const silent = pendingOf(await pay({ n: 1 }, { key: "silent", by: ana }));
    const spoken = pendingOf(await pay({ n: 1 }, { key: "spoken", by: ana }));
    await engine.deny(silent.id, { by: boss });
    await engine.deny(spoken.id, { by: boss, reason: "too much" });
    expect(await pay({ n: 1 }, { key: "silent", by: ana })).toEqual({ status: "denied" });
    expect(await pay({ n: 1 }, { key: "spoken", by: ana })).toEqual({ status: "denied", reason: "too much" });
    expect(runs).toBe(0);
  });

  test("of a question that nobody answered in time is expired, also for whoever approves too late", async () => {
    let runs = 0;
    const pay = engine.gate("pay", { requireConfirmation: true, expiresInMs: 1_000 }, async () => ++runs);
    const swept = pendingOf(await pay({}, { key: "swept", by: ana }));
    const late = pendingOf(await pay({}, { key: "late", by: ana }));
    await clock.advance(1_000);
    expect(await tryApprove(engine, late.id, { by: boss })).toMatchObject({ ok: false, code: "expired" });
    await engine.work({ once: true });
    expect(await pay({}, { key: "swept", by: ana })).toEqual({ status: "expired" });
    expect(await pay({}, { key: "late", by: ana })).toEqual({ status: "expired" });
    expect(await tryApprove(engine, swept.id, { by: boss })).toMatchObject({ ok: false, code: "expired" });
    expect(runs).toBe(0);
  });

  test("of a withdrawn question is cancelled, and says why and by whom", async () => {
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => 1);
    const { id } = pendingOf(await pay({}, { key: "k", by: ana }));
    expect(await engine.decisions.cancel(id, { by: ana, reason: "not needed" })).toMatchObject({ ok: true });
    expect(await pay({}, { key: "k", by: ana })).toEqual({
      status: "cancelled",
      reason: expect.stringMatching(/^not needed \(withdrawn by ana\b/) as string,
    });
    expect(await tryApprove(engine, id, { by: boss })).toMatchObject({ ok: false, code: "withdrawn" });
  });

  test("of a body that throws is failed with its message, and stays so", async () => {
    let runs = 0;
    const pay = engine.gate("pay", {}, async () => {
      runs += 1;
      throw new Error("card refused");
    });
    expect(await pay({}, { key: "k", by: ana })).toEqual({ status: "failed", error: "card refused" });
    expect(await pay({}, { key: "k", by: ana })).toEqual({ status: "failed", error: "card refused" });
    expect(runs).toBe(1);
  });

  test("of a function that throws something other than an Error is failed too", async () => {
    const sync = engine.gate("sync", {}, () => {
      throw "a string" as unknown as Error;
    });
    expect(await sync({}, { key: "k", by: ana })).toEqual({ status: "failed", error: "a string" });
  });

  test("of a body that cannot tell is unknown, until a person settles it", async () => {
    const pay = engine.gate("pay", {}, async () => {
      throw new OutcomeUnknown("the line went dead");
    });
    const outcomes = await Promise.all(["a", "b", "c"].map((key) => pay({}, { key, by: ana })));
    expect(outcomes.map(({ status }) => status)).toEqual(["unknown", "unknown", "unknown"]);
    const [a, b, c] = outcomes.map((outcome) => (outcome.status === "unknown" ? outcome.callId : ""));
    expect(new Set((await ledger.unknownCalls()).items.map(({ id }) => id))).toEqual(new Set([a, b, c]));
    await engine.decisions.settle({ call: a ?? "" }, { as: "succeeded", result: { id: 7 } }, { by: boss });
    await engine.decisions.settle({ call: b ?? "" }, { as: "failed", error: "it bounced" }, { by: boss });
    await engine.decisions.settle({ call: c ?? "" }, { as: "retry" }, { by: boss });
    expect(await pay({}, { key: "a", by: ana })).toEqual({ status: "succeeded", result: { id: 7 } });
    expect(await pay({}, { key: "b", by: ana })).toEqual({ status: "failed", error: "it bounced" });
    // Run again by a person's word, under the same key; and again it cannot tell.
    await engine.finished(c ?? "");
    expect(await pay({}, { key: "c", by: ana })).toEqual({ status: "unknown", callId: c });
    expect((await ledger.calls([c ?? ""]))[0]?.attempt).toBe(2);
  });

  test("keeps undefined as null, rounds what JSON can round, and says when a result could not be kept", async () => {
    const nothing = engine.gate("nothing", {}, async () => undefined);
    expect(await nothing({}, { key: "k", by: ana })).toEqual({ status: "succeeded", result: null });
    const date = engine.gate("date", {}, async () => ({ at: new Date(0) }) as unknown as { at: string });
    expect(await date({}, { key: "k", by: ana })).toEqual({
      status: "succeeded",
      result: { at: "1970-01-01T00:00:00.000Z" },
    });
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const lost = engine.gate("lost", {}, async () => cyclic as unknown as { self: string });
    expect(await lost({}, { key: "k", by: ana })).toMatchObject({
      status: "succeeded",
      result: { warning: expect.stringContaining("not JSON") as string },
    });
    const big = engine.gate("big", {}, async () => 10n as unknown as number);
    expect(await big({}, { key: "k", by: ana })).toMatchObject({
      status: "succeeded",
      result: { warning: expect.stringContaining("not JSON") as string },
    });
  });

  test("of a call with a result over the limit succeeded, says so, and does not run again", async () => {
    const limited = new Engine({ ledger, clock, maxResultBytes: 10 });
    let ran = 0;
    const long = (name: string, result: JsonValue): Promise<GateOutcome<JsonValue>> => {
      const gate = limited.gate(name, {}, async () => {
        ran += 1;
        return result;
      });
      return gate({}, { key: "k", by: ana }).then(() => gate({}, { key: "k", by: ana }));
    };
    expect(await long("fits", "12345678")).toEqual({ status: "succeeded", result: "12345678" });
    for (const [name, result] of Object.entries({
      text: "123456789",
      bytes: "žžžžž",
      list: [1, 2, 3, 4, 5],
    })) {
      expect(await long(name, result)).toEqual({
        status: "succeeded",
        result: {
          warning: `the tool ran, but its result was not stored: it has ${Buffer.byteLength(JSON.stringify(result))} bytes of JSON; the limit is 10.`,
        },
      });
    }
    expect(ran).toBe(4);
    const usual = engine.gate("usual", {}, async () => "x".repeat(1_048_576));
    expect(await usual({}, { key: "k", by: ana })).toMatchObject({
      status: "succeeded",
      result: { warning: expect.stringContaining("the limit is 1048576") as string },
    });
  });

  test("is executing for every caller while another process runs the function", async () => {
    const other = new Engine({ ledger, clock });
    const { promise: end, resolve: finish } = Promise.withResolvers<string>();
    let started = false;
    const options = {};
    const slow = engine.gate("slow", options, () => {
      started = true;
      return end;
    });
    const elsewhere = other.gate("slow", options, async () => "never here");
    const first = slow({}, { key: "k", by: ana });
    await until(clock, () => started);
    expect(await elsewhere({}, { key: "k", by: ana })).toMatchObject({ status: "executing" });
    finish("here");
    expect(await first).toEqual({ status: "succeeded", result: "here" });
    expect(await elsewhere({}, { key: "k", by: ana })).toEqual({ status: "succeeded", result: "here" });
  });
});

describe("several engines on one file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "countersign-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("one approves what it cannot run, one that hosts it runs it, and both see it finished", async () => {
    const url = `sqlite:${join(folder, "ledger.db")}`;
    const hosting = new Engine({ ledger: await createLedger(url) });
    const deciding = new Engine({ ledger: await createLedger(url) });
    let runs = 0;
    const pay = hosting.gate("pay", { requireConfirmation: true }, async () => {
      runs += 1;
      return "paid";
    });
    const { id } = pendingOf(await pay({}, { key: "k", by: ana }));
    const receipt = await tryApprove(deciding, id, { by: boss });
    if (!receipt.ok) throw new Error(receipt.message);
    expect(receipt.call.status).toBe("ready");
    expect(runs).toBe(0);
    // Nobody does it unless it is looked for; asking for the outcome says so.
    expect((await pay({}, { key: "k", by: ana })).status).toBe("executing");
    const worker = hosting.work();
    expect(await receipt.finished).toMatchObject({ status: "succeeded", result: "paid" });
    await worker.stop();
    expect(await pay({}, { key: "k", by: ana })).toEqual({ status: "succeeded", result: "paid" });
    expect(runs).toBe(1);
    await Promise.all([hosting.close(), deciding.close()]);
  });

  test("one key used at once in both is one call", async () => {
    const url = `sqlite:${join(folder, "ledger.db")}`;
    const engines = [
      new Engine({ ledger: await createLedger(url) }),
      new Engine({ ledger: await createLedger(url) }),
    ];
    let runs = 0;
    const gates = engines.map((each) => each.gate("count", {}, async () => ++runs));
    const uses = gates.flatMap((gate) => Array.from({ length: 10 }, () => gate({}, { key: "k", by: ana })));
    await Promise.all(uses);
    expect(runs).toBe(1);
    const outcomes = await Promise.all(gates.map((gate) => gate({}, { key: "k", by: ana })));
    expect(outcomes).toEqual(outcomes.map(() => ({ status: "succeeded", result: 1 })));
    await Promise.all(engines.map((each) => each.close()));
  });
});
