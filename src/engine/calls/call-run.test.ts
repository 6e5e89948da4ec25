import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CountersignError, type JsonValue } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { GatedFunction, GateOptions } from "../gate/gate.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { killableEngine, pumped, settle, until } from "../testing/execution.ts";
import { type CallContext, OutcomeUnknown } from "./call-context.ts";
import { CallEnd } from "./call-end.ts";

const LEASE_MS = 15_000;
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

function fails(): never {
  throw new Error("no");
}

const askOnce: Body = async ({ confirm, attempt }) => {
  await confirm("sure");
  return attempt;
};

function tool(
  body: Body,
  options: GateOptions<object> = {},
  on: Engine = engine,
): GatedFunction<object, JsonValue | undefined> {
  return on.gate("tool", options, (_args, context) => body(context));
}

async function stored(): Promise<CallRecord> {
  const snapshot = await ledger.load({ session: { app: "gate:tool", user: "gate", id: "k" } });
  const [call] = await ledger.calls([`${snapshot?.session.key}.k`]);
  if (call === undefined) throw new Error("There is no call.");
  return call;
}

async function openId(): Promise<string> {
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  if (open === undefined) throw new Error("Nothing is open.");
  return open.confirmation.id;
}

async function decide(
  confirmed: boolean,
  more: { payload?: JsonValue; reason?: string } = {},
): Promise<void> {
  const decided = await engine.decisions.decide({ id: await openId(), confirmed, ...more }, { by: ana });
  if (!decided.ok) throw new Error(decided.message);
  await until(clock, async () => !["executing", "ready"].includes((await stored()).status));
}

/** Time goes on, second by second. */
async function passes(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await clock.advance(1_000);
    await settle(clock, 5);
  }
}

describe("what a body is given", () => {
  test("is one key for every attempt and round, and the number of the attempt", async () => {
    const seen: unknown[] = [];
    const call = tool(
      async ({ idempotencyKey, attempt, callId, session, confirm }) => {
        seen.push({ idempotencyKey, attempt, callId, session });
        await confirm("a");
        await confirm("b");
        return "done";
      },
      { requireConfirmation: true },
    );
    await call({}, use);
    await decide(true);
    await decide(true);
    await decide(true);
    const { id } = await stored();
    const session = { app: "gate:tool", user: "gate", id: "k" };
    expect(seen).toEqual([1, 2, 3].map((attempt) => ({ idempotencyKey: id, attempt, callId: "k", session })));
  });

  test("is the decision that let it start, with its payload", async () => {
    const seen: unknown[] = [];
    const call = tool(async ({ toolConfirmation }) => void seen.push(toolConfirmation), {
      requireConfirmation: true,
      confirmationHint: "Sure?",
    });
    await call({}, use);
    await decide(true, { payload: { days: 2 } });
    expect(seen).toEqual([{ hint: "Sure?", confirmed: true, payload: { days: 2 } }]);
  });

  test("is absent if nobody had to decide", async () => {
    const seen: unknown[] = [];
    await tool(async (context) => void seen.push("toolConfirmation" in context))({}, use);
    expect(seen).toEqual([false]);
  });

  test("is a signal that aborts as suspended while a person is asked", async () => {
    const reasons: unknown[] = [];
    const call = tool(async ({ signal, confirm }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      await confirm("sure");
      reasons.push(`approved, aborted: ${signal.aborted}`);
      return "done";
    });
    await call({}, use);
    expect(reasons).toEqual(["suspended"]);
    await decide(true);
    expect(reasons).toEqual(["suspended", "approved, aborted: false"]);
  });
});

describe("a suspended call", () => {
  test("holds no lease, survives its process, and is never unknown", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    await tool(askOnce, {}, doomed)({}, use);
    expect((await stored()).owner).toBeUndefined();
    crash();
    tool(askOnce);
    await clock.advance(100 * LEASE_MS);
    await engine.work({ once: true });
    expect((await stored()).status).toBe("suspended");
    await decide(true);
    expect(await stored()).toMatchObject({ status: "succeeded", result: 2 });
  });

  test("that is withdrawn ends, and its body is not entered again", async () => {
    let entered = 0;
    const call = tool(async ({ confirm }) => {
      entered += 1;
      await confirm("sure");
      return "done";
    });
    await call({}, use);
    await engine.decisions.cancel(await openId(), { by: ana, reason: "no longer" });
    await settle(clock);
    expect((await call({}, use)).status).toBe("cancelled");
    expect(entered).toBe(1);
  });
});

describe("ctx.requestConfirmation", () => {
  test("lets the body return, discards what it says, and enters it again with the decision", async () => {
    const seen: unknown[] = [];
    const call = tool(async ({ toolConfirmation, requestConfirmation }) => {
      seen.push(toolConfirmation?.confirmed);
      if (toolConfirmation === undefined) {
        requestConfirmation({ hint: "Delete it?", payload: { really: false } });
        return "this is not the result";
      }
      return { answer: toolConfirmation.payload ?? null };
    });
    expect(await call({}, use)).toMatchObject({
      status: "pending",
      confirmation: { hint: "Delete it?", payload: { really: false } },
    });
    expect((await stored()).result).toBeUndefined();
    await decide(true, { payload: { really: true } });
    expect(await call({}, use)).toEqual({ status: "succeeded", result: { answer: { really: true } } });
    expect(seen).toEqual([undefined, true]);
  });

  test("may be used round after round; each decision is the last one", async () => {
    const hints: unknown[] = [];
    const call = tool(async ({ toolConfirmation, requestConfirmation, attempt }) => {
      hints.push(toolConfirmation?.hint);
      if (attempt < 3) requestConfirmation({ hint: `round ${attempt}` });
      return `attempt ${attempt}`;
    });
    await call({}, use);
    await decide(true);
    await decide(true);
    expect(await stored()).toMatchObject({ status: "succeeded", result: "attempt 3", rounds: 2 });
    expect(hints).toEqual([undefined, "round 1", "round 2"]);
  });

  test("asks by the default hint where none is given, and gives the example back where no payload is", async () => {
    const call = tool(async ({ toolConfirmation, requestConfirmation }) => {
      if (toolConfirmation === undefined) requestConfirmation({ payload: { days: 3 } });
      return toolConfirmation?.payload ?? null;
    });
    expect(await call({}, use)).toMatchObject({
      confirmation: { hint: "Approve execution of tool tool?" },
    });
    await decide(true);
    expect((await stored()).result).toEqual({ days: 3 });
  });

  test("with onDenied invoke enters the tool once more, unconfirmed, without a payload, to word its answer", async () => {
    const seen: unknown[] = [];
    const call = tool(
      async ({ toolConfirmation, requestConfirmation }) => {
        seen.push(toolConfirmation);
        if (toolConfirmation?.confirmed === false) {
          try {
            requestConfirmation({ hint: "Please?" });
          } catch (error) {
            seen.push((error as CountersignError).code);
          }
          return { said: "never mind" };
        }
        requestConfirmation({ hint: "May I?", payload: { days: 3 } });
        return null;
      },
      { onDenied: "invoke" },
    );
    await call({}, use);
    await decide(false, { reason: "no", payload: { days: 1 } });
    expect(seen).toEqual([undefined, { hint: "May I?", confirmed: false }, "already-decided"]);
    expect(await stored()).toMatchObject({ status: "denied", result: { said: "never mind" }, rounds: 1 });
    expect(await call({}, use)).toEqual({ status: "denied", reason: "no" });
  });

  test("with onDenied invoke also words an expiry; that is expired, not denied by a person", async () => {
    const seen: unknown[] = [];
    const call = tool(
      async ({ toolConfirmation, requestConfirmation }) => {
        seen.push(toolConfirmation?.confirmed);
        if (toolConfirmation === undefined) requestConfirmation();
        return { said: "too late" };
      },
      { onDenied: "invoke", expiresInMs: 1_000 },
    );
    await call({}, use);
    await clock.advance(1_000);
    await engine.work({ once: true });
    expect(seen).toEqual([undefined, false]);
    expect(await stored()).toMatchObject({ status: "expired", result: { said: "too late" } });
    expect(await call({}, use)).toEqual({ status: "expired" });
  });

  test("with onDenied invoke the call is denied even if the tool throws while it words its answer", async () => {
    const call = tool(
      async ({ toolConfirmation, requestConfirmation }) => {
        if (toolConfirmation !== undefined) throw new Error("sulking");
        requestConfirmation();
        return null;
      },
      { onDenied: "invoke" },
    );
    await call({}, use);
    await decide(false);
    expect(await stored()).toMatchObject({ status: "denied", result: { error: "sulking" } });
  });

  test("without onDenied a denial does not enter the tool again", async () => {
    let entered = 0;
    const call = tool(async ({ requestConfirmation }) => {
      entered += 1;
      requestConfirmation();
      return null;
    });
    await call({}, use);
    await decide(false);
    expect(entered).toBe(1);
    expect(await stored()).toMatchObject({
      status: "denied",
      result: { error: "tool call was rejected by the user" },
    });
  });

  test("does not bypass the limit on questions: the call fails and says so", async () => {
    const call = tool(
      async ({ requestConfirmation }) => requestConfirmation() ?? null,
      {},
      new Engine({ ledger, clock, maxRounds: 0 }),
    );
    expect(await call({}, use)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("too many") as string,
    });
    expect((await stored()).result).toMatchObject({ code: "too-many-open" });
  });
});

describe("between the claim and the body", () => {
  test("a lease that is still fresh costs no look at the ledger", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock);
    const call = tool(async () => "done", {}, own);
    await call({}, use);
    expect(watched.count("owners.beat")).toBe(1);
    expect(watched.count("commit")).toBe(2);
  });

  test("a lease that has run down by a third is renewed before the body starts", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock);
    const call = tool(async () => "done", {}, own);
    // As if the process had been stopped after its claim was committed.
    watched.intercept("commit", async (pass) => {
      const outcome = await pass();
      watched.lift("commit");
      await clock.advance(LEASE_MS / 3);
      return outcome;
    });
    expect(await call({}, use)).toEqual({ status: "succeeded", result: "done" });
    expect(watched.count("owners.beat")).toBe(2);
    expect((await stored()).attempt).toBe(1);
  });

  test("the time that passes while the ledger tells what the call has done already counts, too", async () => {
    const { engine: other, watched } = killableEngine(ledger, clock);
    const entered: number[] = [];
    const body = async ({ confirm, attempt }: CallContext): Promise<JsonValue> => {
      entered.push(attempt);
      await confirm("sure");
      return attempt;
    };
    await tool(body, {}, other)({}, use);
    // The host sleeps for an hour in the middle of it, and somebody else takes the call for lost.
    watched.intercept("steps", async (pass) => {
      const steps = await pass();
      watched.lift("steps");
      clock.shiftWall(60 * 60 * 1_000);
      await ledger.due([], 10);
      return steps;
    });
    const decided = await other.decisions.decide({ id: await openId(), confirmed: true }, { by: ana });
    expect(decided.ok).toBe(true);
    await until(clock, async () => (await stored()).status === "succeeded");
    // The second attempt knew that it was late, and gave the call back.
    expect(entered).toEqual([1, 3]);
  });

  test("a process that wakes up does not start a claim that others have recovered", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock);
    const entered: string[] = [];
    const call = tool(async ({ attempt }) => void entered.push(`own ${attempt}`), {}, own);
    tool(async ({ attempt }) => void entered.push(`other ${attempt}`));
    watched.intercept("commit", async (pass) => {
      const outcome = await pass();
      watched.lift("commit");
      await clock.advance(LEASE_MS);
      // Another process looks, and finds the call without an owner.
      await engine.work({ once: true });
      expect((await stored()).status).toBe("unknown");
      return outcome;
    });
    await call({}, use);
    // It knows that the body never began, so it gives the call back and takes it anew: no person is needed.
    expect(await stored()).toMatchObject({ status: "succeeded", attempt: 2 });
    expect(entered).toEqual(["own 2"]);
  });

  test("a claim whose lease was taken is not started, even if nobody has touched the call yet", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock);
    const entered: number[] = [];
    const call = tool(async ({ attempt }) => void entered.push(attempt), {}, own);
    watched.intercept("commit", async (pass) => {
      const outcome = await pass();
      watched.lift("commit");
      await clock.advance(LEASE_MS);
      // Another process has looked, and is about to act on what it saw.
      await ledger.due([], 1);
      expect((await stored()).status).toBe("executing");
      return outcome;
    });
    await call({}, use);
    await settle(clock);
    expect(entered).toEqual([2]);
  });

  test("a claim that a person has settled meanwhile is neither started nor given back", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock);
    let entered = 0;
    const call = tool(async () => ++entered, {}, own);
    tool(async () => ++entered);
    watched.intercept("commit", async (pass) => {
      const outcome = await pass();
      watched.lift("commit");
      await clock.advance(LEASE_MS);
      await engine.work({ once: true });
      const { id } = await stored();
      await engine.decisions.settle({ call: id }, { as: "failed", error: "never mind" }, { by: ana });
      return outcome;
    });
    expect(await call({}, use)).toEqual({ status: "failed", error: "never mind" });
    expect(entered).toBe(0);
  });
});

describe("the outcome of a body", () => {
  test("is offered until the ledger takes it", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock);
    let runs = 0;
    const call = tool(
      async () => {
        watched.intercept("commit", () => {
          throw new CountersignError("ledger-busy", "try again");
        });
        return ++runs;
      },
      {},
      own,
    );
    const outcome = call({}, use);
    await until(clock, () => watched.count("commit") === 2);
    await clock.advance(50);
    await settle(clock);
    expect(watched.count("commit")).toBe(3);
    expect((await stored()).status).toBe("executing");
    watched.lift("commit");
    await clock.advance(100);
    expect(await outcome).toEqual({ status: "succeeded", result: 1 });
    expect(runs).toBe(1);
  });

  test("is unknown when the tool says so, also for a tool that may be repeated: that is its own word", async () => {
    let runs = 0;
    const call = tool(
      async () => {
        runs += 1;
        throw new OutcomeUnknown("the line went dead");
      },
      { idempotent: true },
    );
    expect((await call({}, use)).status).toBe("unknown");
    await clock.advance(10 * LEASE_MS);
    await engine.work({ once: true });
    expect(runs).toBe(1);
    expect((await stored()).status).toBe("unknown");
  });

  test.each<[string, unknown]>([
    ["an object without text", Object.create(null)],
    [
      "an error that throws when it is read",
      Object.defineProperty(new Error("x"), "message", { get: fails }),
    ],
    ["a proxy that throws at every look", new Proxy({}, { getPrototypeOf: fails, get: fails })],
    ["half an emoji", new Error("\ud83d")],
  ])("has failed, and is not entered again, when the tool throws %s", async (_, thrown) => {
    let runs = 0;
    const call = tool(async () => {
      runs += 1;
      throw thrown;
    });
    expect((await call({}, use)).status).toBe("failed");
    expect(runs).toBe(1);
  });

  test("is offered on and on where the ledger refuses everything, and brings nobody down", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock, { onError: () => {} });
    const call = tool(
      async () => {
        watched.intercept("commit", async () => {
          throw new Error("no room for anything");
        });
        return 1;
      },
      {},
      own,
    );
    const outcome = call({}, use);
    await until(clock, () => watched.count("commit") >= 2);
    for (let turn = 0; turn < 20; turn++) {
      await clock.advance(10_000);
      await settle(clock);
    }
    expect(watched.count("commit")).toBeGreaterThan(12);
    watched.lift("commit");
    await clock.advance(10_000);
    expect((await pumped(clock, outcome)).status).toBe("unknown");
  });

  test("that cannot be stored in time is reported, makes the process unready, and does not prevent closing", async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const { engine: own, watched } = killableEngine(ledger, clock, { onError });
    const body: Body = async () => {
      watched.intercept("commit", () => Promise.reject(new CountersignError("ledger-busy", "Locked.")));
      return 1;
    };
    const outcome = tool(body, {}, own)({}, use).catch((error: unknown) => error);
    await until(clock, () => watched.count("commit") >= 2);
    await own.ready();
    await passes(31_000);
    expect(errors).toMatchObject([{ code: "ledger-unreachable" }]);
    expect(String(errors[0])).toContain("Locked.");
    await expect(own.ready()).rejects.toThrow("Cannot store the outcome of call");
    let open = true;
    const closing = own.close().then(() => {
      open = false;
    });
    await passes(9_000);
    expect(open).toBe(true);
    await passes(2_000);
    await closing;
    expect(await outcome).toMatchObject({ status: "executing" });
  });

  test("that cannot be stored in time is shown as unknown if that can be written, and counts once it is stored", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock, { onError: () => {} });
    const body: Body = async () => {
      watched.intercept("commit", (pass, [commit]) =>
        JSON.stringify(commit).includes("call-succeeded")
          ? Promise.reject(new CountersignError("ledger-busy", "Locked."))
          : pass(),
      );
      return "paid";
    };
    const outcome = tool(body, {}, own)({}, use);
    await until(clock, () => watched.count("commit") >= 2);
    await passes(31_000);
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    watched.lift("commit");
    await passes(5_000);
    expect(await outcome).toEqual({ status: "succeeded", result: "paid" });
    await own.ready();
  });

  test("is unknown when how it ended can never be stored", async () => {
    let runs = 0;
    // As a runtime may that lets something through which is not JSON.
    const call = tool(async () => {
      runs += 1;
      return new CallEnd({ result: 1, stateDelta: { big: 5n as unknown as number } }) as unknown as JsonValue;
    });
    const outcome = await pumped(clock, call({}, use));
    expect(outcome.status).toBe("unknown");
    expect(runs).toBe(1);
    expect(JSON.stringify((await ledger.journal.records({ after: 0, limit: 99 })).at(-1)?.body)).toContain(
      "could not be stored",
    );
  });

  test.each<[string, Body]>([
    [
      "a payload that is not JSON",
      async ({ confirm }) => confirm("q", { payload: 5n as unknown as number }).then(() => 1),
    ],
    [
      "a hint that is no text",
      async ({ requestConfirmation }) => {
        requestConfirmation({ hint: 5 as unknown as string });
        return 1;
      },
    ],
    [
      "nothing at all",
      async ({ requestConfirmation }) => {
        requestConfirmation(null as unknown as object);
        return 1;
      },
    ],
    ["a name that no index holds", async ({ confirm }) => confirm("x".repeat(769)).then(() => 1)],
    ["under no name", async ({ confirm }) => confirm(undefined as unknown as string).then(() => 1)],
  ])("has failed, with the reason, when the tool asks with %s", async (_, body) => {
    expect(await tool(body)({}, use)).toMatchObject({ status: "failed" });
    expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
  });
});
