import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CountersignError, type JsonValue } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { GatedFunction, GateOptions } from "../gate/gate.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { killableEngine, pumped, settle, until } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";
import { type CallContext, ConfirmationRejected, OutcomeUnknown } from "./call-context.ts";

const ana = { id: "ana" };
const use = { key: "k", by: ana };

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

type Body = (context: CallContext) => Promise<JsonValue | undefined>;

function tool(body: Body, options: GateOptions<object> = {}): GatedFunction<object, JsonValue | undefined> {
  return engine.gate("tool", options, (_args, context) => body(context));
}

/** Approves the one question that is open, and waits until the body has been left again. */
async function approve(payload?: JsonValue): Promise<void> {
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  if (open === undefined) throw new Error("Nothing is open.");
  const decided = await tryApprove(engine, open.confirmation.id, {
    by: ana,
    ...(payload === undefined ? {} : { payload }),
  });
  if (!decided.ok) throw new Error(decided.message);
  await until(clock, async () => (await stored()).status !== "executing");
}

async function stored(): Promise<CallRecord> {
  const snapshot = await ledger.load({ session: { app: "gate:tool", user: "gate", id: "k" } });
  const [call] = await ledger.calls([`${snapshot?.session.key}.k`]);
  if (call === undefined) throw new Error("There is no call.");
  return call;
}

async function kinds(): Promise<readonly string[]> {
  return (await ledger.journal.records({ after: 0, limit: 500 })).map(({ kind }) => kind);
}

describe("ctx.step", () => {
  test("runs its work once, however often the body is entered, and gives back what it returned", async () => {
    const ran: string[] = [];
    const got: unknown[] = [];
    const call = tool(async ({ step, confirm }) => {
      const charge = await step("charge", () => {
        ran.push("charge");
        return { id: ran.length, lines: ["a"] };
      });
      await confirm("first");
      const nothing = await step("void", () => void ran.push("void"));
      await confirm("second");
      got.push(charge, nothing);
      return "done";
    });
    await call({}, use);
    await approve();
    await approve();
    expect(ran).toEqual(["charge", "void"]);
    expect(got).toEqual([{ id: 1, lines: ["a"] }, undefined]);
    expect(await stored()).toMatchObject({ status: "succeeded", attempt: 3, rounds: 2 });
  });

  test("tells steps of one name apart by their order, and gives each its own key", async () => {
    const ran: string[] = [];
    const call = tool(async ({ step, confirm }) => {
      const values: number[] = [];
      for (const n of [1, 2, 3]) {
        values.push(
          await step("send", ({ idempotencyKey }) => {
            ran.push(idempotencyKey);
            return n * 10;
          }),
        );
      }
      await confirm("sure");
      return values;
    });
    await call({}, use);
    await approve();
    const { id, result } = await stored();
    expect(result).toEqual([10, 20, 30]);
    expect(ran).toEqual([`${id}:send`, `${id}:send:1`, `${id}:send:2`]);
  });

  test("gives no two steps one key, whatever they are called", async () => {
    const ran: string[] = [];
    const call = tool(async ({ step }) => {
      for (const name of ["pay", "pay", "pay:1", "pay:1", "pay:1:0", "pay:1:1", "pay:"])
        await step(name, ({ idempotencyKey }) => void ran.push(idempotencyKey));
      return null;
    });
    await call({}, use);
    expect(ran).toHaveLength(7);
    expect(new Set(ran).size).toBe(7);
  });

  test("remembers that it failed, and throws the same again instead of trying again", async () => {
    let tries = 0;
    const caught: unknown[] = [];
    const call = tool(async ({ step, confirm }) => {
      try {
        await step("charge", () => {
          tries += 1;
          throw new Error("card refused");
        });
      } catch (error) {
        caught.push((error as Error).message);
      }
      await confirm("another way");
      return "done";
    });
    await call({}, use);
    await approve();
    expect(tries).toBe(1);
    expect(caught).toEqual(["card refused", "card refused"]);
    expect(await kinds()).toContain("step-failed");
  });

  test.each([
    ["is not JSON", new Date(0), "it is not JSON"],
    ["is too large", "x".repeat(1_048_576), "it has 1048578 bytes of JSON; the limit is 1048576"],
  ])("refuses to remember what %s; the work is not repeated for that", async (_, value, flaw) => {
    let tries = 0;
    const call = tool(async ({ step, confirm }) => {
      const seen = await step("charge", () => {
        tries += 1;
        return value;
      }).catch((error: unknown) => (error as Error).message);
      await confirm("sure");
      return String(seen);
    });
    await call({}, use);
    await approve();
    expect(tries).toBe(1);
    expect((await stored()).result).toContain(
      `The step "charge" ran, but its result cannot be stored: ${flaw}`,
    );
  });

  test("whose work cannot tell makes the call unknown, whatever the tool catches", async () => {
    let after = 0;
    const call = tool(async ({ step }) => {
      await step("charge", () => {
        throw new OutcomeUnknown("timed out");
      }).catch(() => {});
      after += 1;
      return "done";
    });
    expect((await call({}, use)).status).toBe("unknown");
    expect(after).toBe(0);
  });

  test("that cannot be recorded as done is unknown, not failed: its work did happen", async () => {
    const dying = killableEngine(ledger, clock);
    dying.watched.intercept("commit", (pass, [commit]) => {
      const text = JSON.stringify(commit);
      if (text.includes("step-done")) throw new CountersignError("ledger-unreachable", "the disk is full");
      return pass();
    });
    let charged = 0;
    const call = dying.engine.gate("tool", {}, async (_args, { step }) => {
      await step("charge", () => void (charged += 1));
      return "done";
    });
    expect((await pumped(clock, call({}, use))).status).toBe("unknown");
    expect(charged).toBe(1);
    expect(await kinds()).not.toContain("step-failed");
  });

  test.each(["step-started", "step-done"])(
    "waits for a ledger that is away for a while: %s",
    async (kind) => {
      const dying = killableEngine(ledger, clock);
      let refused = 0;
      dying.watched.intercept("commit", (pass, [commit]) => {
        if (!JSON.stringify(commit).includes(kind) || refused === 3) return pass();
        refused += 1;
        throw new CountersignError("ledger-unreachable", "the server does not answer");
      });
      let charged = 0;
      const call = dying.engine.gate("tool", {}, async (_args, { step }) => {
        await step("charge", () => void (charged += 1));
        return "done";
      });
      expect(await pumped(clock, call({}, use))).toMatchObject({ status: "succeeded", result: "done" });
      expect([charged, refused]).toEqual([1, 3]);
    },
  );

  test.each(["step-started", "step-done"])("is stored once where the answer was lost: %s", async (kind) => {
    const dying = killableEngine(ledger, clock);
    let lost = false;
    dying.watched.intercept("commit", async (pass, [commit]) => {
      const outcome = await pass();
      if (!JSON.stringify(commit).includes(kind) || lost) return outcome;
      lost = true;
      throw new CountersignError("ledger-unreachable", "the connection was lost");
    });
    let charged = 0;
    const call = dying.engine.gate("tool", {}, async (_args, { step }) => {
      await step("charge", () => void (charged += 1));
      return "done";
    });
    expect(await pumped(clock, call({}, use))).toMatchObject({ status: "succeeded", result: "done" });
    expect([charged, lost]).toEqual([1, true]);
    expect((await kinds()).filter((each) => each === kind)).toHaveLength(1);
  });

  test("running while a question is asked is waited for, so that its outcome is known afterwards", async () => {
    let ran = 0;
    const { promise: slow, resolve: finish } = Promise.withResolvers<void>();
    const call = tool(async ({ step, confirm }) => {
      const [value] = await Promise.all([
        step("charge", async () => {
          ran += 1;
          await slow;
          return "charged";
        }),
        confirm("sure"),
      ]);
      return value;
    });
    const outcome = call({}, use);
    await until(clock, () => ran === 1);
    finish();
    expect((await outcome).status).toBe("pending");
    await approve();
    expect(await stored()).toMatchObject({ status: "succeeded", result: "charged" });
    expect(ran).toBe(1);
  });

  test("is not begun once the body is to be left, even by a tool that does not wait for its question", async () => {
    let charged = 0;
    const call = tool(async ({ step, confirm }) => {
      confirm("sure").catch(() => {});
      await step("charge", () => void (charged += 1));
      return "done";
    });
    expect((await call({}, use)).status).toBe("pending");
    expect(charged).toBe(0);
    await approve();
    expect(charged).toBe(1);
    expect((await stored()).status).toBe("succeeded");
  });
});

describe("after a crash", () => {
  const LEASE_MS = 15_000;

  test("a step that had ended is not repeated, and one that may be repeated is, under the same key", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    const ran: string[] = [];
    const body =
      (reach: () => Promise<void>) =>
      async (_args: object, { step, attempt }: CallContext): Promise<string> => {
        await step("first", () => void ran.push(`first ${attempt}`));
        await step(
          "second",
          async ({ idempotencyKey }) => {
            ran.push(`second ${attempt} ${idempotencyKey.split(":").at(-1)}`);
            await reach();
          },
          { idempotent: true },
        );
        return `attempt ${attempt}`;
      };
    let isInside = false;
    const hang = doomed.gate(
      "tool",
      { idempotent: true },
      body(() => {
        isInside = true;
        return new Promise(() => {});
      }),
    );
    hang({}, use).catch(() => {});
    await until(clock, () => isInside);
    crash();
    engine.gate(
      "tool",
      { idempotent: true },
      body(async () => {}),
    );
    await clock.advance(LEASE_MS);
    await engine.work({ once: true });
    expect(await stored()).toMatchObject({ status: "succeeded", result: "attempt 2", attempt: 2 });
    expect(ran).toEqual(["first 1", "second 1 second", "second 2 second"]);
  });

  test("a step that had begun and may not be repeated makes the call unknown, and nothing runs", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    let began = 0;
    let after = 0;
    const body =
      (reach: () => Promise<void>) =>
      async (_args: object, { step }: CallContext): Promise<string> => {
        await step("charge", async () => {
          began += 1;
          await reach();
        });
        after += 1;
        return "done";
      };
    const hang = doomed.gate(
      "tool",
      { idempotent: true },
      body(() => new Promise(() => {})),
    );
    hang({}, use).catch(() => {});
    await until(clock, () => began === 1);
    crash();
    engine.gate(
      "tool",
      { idempotent: true },
      body(async () => {}),
    );
    await clock.advance(LEASE_MS);
    await engine.work({ once: true });
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 2 });
    expect([began, after]).toEqual([1, 0]);
    const last = (await ledger.journal.records({ after: 0, limit: 500 })).at(-1);
    expect(last?.kind).toBe("call-unknown");
    expect(JSON.stringify(last?.body)).toContain("charge");
  });

  test("a person who says that it did not happen lets the step with the unknown outcome run", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    let began = 0;
    const body =
      (reach: () => Promise<void>) =>
      async (_args: object, { step }: CallContext): Promise<string> => {
        await step("charge", async () => {
          began += 1;
          await reach();
        });
        return "done";
      };
    doomed
      .gate(
        "tool",
        {},
        body(() => new Promise(() => {})),
      )({}, use)
      .catch(() => {});
    await until(clock, () => began === 1);
    crash();
    engine.gate(
      "tool",
      {},
      body(async () => {}),
    );
    await clock.advance(LEASE_MS);
    await engine.work({ once: true });
    const { id, status } = await stored();
    expect(status).toBe("unknown");
    expect(await engine.decisions.settle({ call: id }, { as: "retry" }, { by: ana })).toMatchObject({
      ok: true,
    });
    expect(await engine.finished(id)).toMatchObject({ status: "succeeded", attempt: 2 });
    expect(began).toBe(2);
  });
});

describe("ctx.confirm", () => {
  test("abandons the function and runs it again with the answer", async () => {
    const entries: number[] = [];
    const call = tool(async ({ confirm, attempt }) => {
      entries.push(attempt);
      const { payload } = await confirm("manager", {
        hint: "How many days?",
        schema: { type: "object", properties: { days: { type: "integer" } }, required: ["days"] },
      });
      return { approved: payload ?? null };
    });
    expect(await call({}, use)).toMatchObject({
      status: "pending",
      confirmation: { round: 0, hint: "How many days?", question: "manager" },
    });
    const [open] = (await ledger.confirmations({ state: "open" })).items;
    const wrong = { by: ana, payload: { days: "two" } };
    expect(await tryApprove(engine, open?.confirmation.id ?? "", wrong)).toMatchObject({
      ok: false,
      code: "payload-mismatch",
      field: "days",
    });
    await approve({ days: 2 });
    expect(await call({}, use)).toEqual({ status: "succeeded", result: { approved: { days: 2 } } });
    expect(entries).toEqual([1, 2]);
  });

  test("asks several questions one after the other, each its own confirmation of the one call", async () => {
    const call = tool(async ({ confirm }) => {
      const { payload: first } = await confirm("manager");
      const { payload: second } = await confirm("manager");
      const { payload: third } = await confirm("finance");
      return [first ?? null, second ?? null, third ?? null];
    });
    await call({}, use);
    await approve("one");
    await approve("two");
    await approve("three");
    expect(await stored()).toMatchObject({ status: "succeeded", result: ["one", "two", "three"], rounds: 3 });
    const { items } = await ledger.confirmations({ state: "closed" });
    expect(new Set(items.map(({ confirmation }) => confirmation.round))).toEqual(new Set([0, 1, 2]));
  });

  test("beside the gate's own question counts on from it", async () => {
    const call = tool(async ({ confirm }) => (await confirm("extra")).payload ?? null, {
      requireConfirmation: true,
    });
    expect(await call({}, use)).toMatchObject({ status: "pending", confirmation: { round: 0 } });
    await approve();
    expect(await call({}, use)).toMatchObject({
      status: "pending",
      confirmation: { round: 1, question: "extra" },
    });
    await approve("x");
    expect(await call({}, use)).toEqual({ status: "succeeded", result: "x" });
  });

  test("asked twice at once puts one question after the other", async () => {
    const call = tool(async ({ confirm }) => {
      const [a, b] = await Promise.all([confirm("a"), confirm("b")]);
      return [a.payload ?? null, b.payload ?? null];
    });
    await call({}, use);
    expect((await ledger.confirmations({ state: "open" })).items).toHaveLength(1);
    await approve("for a");
    expect((await ledger.confirmations({ state: "open" })).items).toHaveLength(1);
    await approve("for b");
    expect((await stored()).result).toEqual(["for a", "for b"]);
  });

  test.each([
    ["the same name with another hint", (n: number): [string, object] => ["q", { hint: `hint ${n}` }]],
    ["the same name with another example", (n: number): [string, object] => ["q", { payload: { n } }]],
    ["the same name with another schema", (n: number): [string, object] => ["q", { schema: { minimum: n } }]],
    ["a new question before the old one", (n: number): [string, object] => [`q${n}`, {}]],
  ])("that asks %s fails as replay-diverged, and nothing further runs", async (_what, question) => {
    let entered = 0;
    const ran: string[] = [];
    const call = tool(async (context) => {
      entered += 1;
      const [name, options] = question(entered);
      try {
        await context.confirm(name, options);
      } catch {
        ran.push("caught");
      } finally {
        ran.push("finally");
      }
      await context.step("after", () => void ran.push("after"));
      return "done";
    });
    await call({}, use);
    await approve(entered);
    expect(await call({}, use)).toEqual({
      status: "failed",
      error: expect.stringContaining("asks differently than before") as string,
    });
    expect(await stored()).toMatchObject({ status: "failed", result: { code: "replay-diverged" } });
    expect(ran).toEqual([]);
    expect(entered).toBe(2);
  });

  test("does not let the tool outrun its own suspension: what it returns or throws meanwhile is discarded", async () => {
    const bodies: readonly Body[] = [
      async ({ confirm, attempt }) => {
        const asked = confirm("sure");
        if (attempt === 1) return "too early";
        return (await asked).payload ?? "on time";
      },
      async ({ confirm, attempt }) => {
        const asked = confirm("sure");
        if (attempt === 1) throw new Error("too early");
        return (await asked).payload ?? "on time";
      },
    ];
    for (const [index, body] of bodies.entries()) {
      const call = engine.gate(`early${index}`, {}, (_args: object, context) => body(context));
      const outcome = await call({}, use);
      if (outcome.status !== "pending") throw new Error(`It is ${outcome.status}.`);
      await engine.approve(outcome.confirmation.id, { by: ana });
      expect(await engine.finished(outcome.callId)).toMatchObject({ result: "on time" });
    }
  });

  test("does not let the tool outrun a step that is waited for either", async () => {
    const { promise: slow, resolve: finish } = Promise.withResolvers<void>();
    let began = 0;
    const call = tool(async ({ step, confirm, attempt }) => {
      const work = step("slow", async () => {
        began += 1;
        await slow;
      });
      const asked = confirm("sure");
      if (attempt === 1) return "too early";
      await Promise.all([work, asked]);
      return "on time";
    });
    const outcome = call({}, use);
    await until(clock, () => began === 1);
    await settle(clock);
    finish();
    expect((await outcome).status).toBe("pending");
    await approve();
    expect(await stored()).toMatchObject({ status: "succeeded", result: "on time" });
    expect(began).toBe(1);
  });

  test("that is denied ends the call without entering the body again", async () => {
    let entered = 0;
    const call = tool(async ({ confirm }) => {
      entered += 1;
      await confirm("sure");
      return "done";
    });
    const outcome = await call({}, use);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await engine.deny(outcome.confirmation.id, { by: ana, reason: "no" });
    expect(await call({}, use)).toEqual({ status: "denied", reason: "no" });
    expect(entered).toBe(1);
  });

  test("with onDenied invoke throws ConfirmationRejected, and the ledger says denied whatever is returned", async () => {
    const seen: unknown[] = [];
    const call = tool(
      async ({ confirm }) => {
        try {
          await confirm("sure");
        } catch (error) {
          if (!(error instanceof ConfirmationRejected)) throw error;
          seen.push([error.name, error.status, error.reason, error.message]);
        }
        return "as if it had happened";
      },
      { onDenied: "invoke" },
    );
    const outcome = await call({}, use);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await engine.deny(outcome.confirmation.id, { by: ana, reason: "no" });
    expect(await engine.finished(outcome.callId)).toMatchObject({
      status: "denied",
      result: "as if it had happened",
    });
    expect(seen).toEqual([["ConfirmationRejected", "denied", "no", "The confirmation was denied: no"]]);
    expect((await call({}, use)).status).toBe("denied");
    expect(await kinds()).not.toContain("call-succeeded");
  });

  test("cannot be used to ask again after a denial", async () => {
    const seen: unknown[] = [];
    const call = tool(
      async ({ confirm, requestConfirmation }) => {
        try {
          await confirm("first");
        } catch {
          for (const again of [() => confirm("another"), async () => requestConfirmation()]) {
            await again().catch((error: unknown) => seen.push((error as CountersignError).code));
          }
        }
        return "worded";
      },
      { onDenied: "invoke" },
    );
    const outcome = await call({}, use);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await engine.deny(outcome.confirmation.id, { by: ana });
    await until(clock, async () => !["executing", "ready"].includes((await stored()).status));
    expect(await stored()).toMatchObject({ status: "denied", result: "worded", rounds: 1 });
    expect(seen).toEqual(["already-decided", "already-decided"]);
  });
});
