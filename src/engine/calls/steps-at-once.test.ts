import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { GatedFunction } from "../gate/gate.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { pumped, settle, until } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";
import { type CallContext, OutcomeUnknown } from "./call-context.ts";

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

function tool(body: Body): GatedFunction<object, JsonValue | undefined> {
  return engine.gate("tool", {}, (_args, context) => body(context));
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

test("a step does not begin while another of its name runs: their order could be another one next time", async () => {
  const ran: string[] = [];
  const first = Promise.withResolvers<void>();
  const call = tool(async ({ step }) => {
    const pay = (to: string): Promise<void> =>
      step("pay", async () => {
        ran.push(`${to} is paid`);
        await first.promise;
        ran.push(`${to} was paid`);
      });
    await Promise.allSettled([pay("ana"), pay("bob")]);
    return "done";
  });
  const outcome = call({}, use);
  await until(clock, async () => ran.length > 0);
  first.resolve();
  const error = expect.stringMatching(/A step "pay" began while another .* a name of its own/) as string;
  expect(await outcome).toEqual({ status: "failed", error });
  // The one that ran was waited for.
  expect(ran).toEqual(["ana is paid", "ana was paid"]);
});

test("a step of which one may have happened leaves the call unknown, also if another of its name began meanwhile", async () => {
  const call = tool(async ({ step }) => {
    const pay = (): Promise<never> =>
      step("pay", async () => {
        throw new OutcomeUnknown("the line went dead");
      });
    await Promise.allSettled([pay(), pay()]);
    return "done";
  });
  await call({}, use);
  expect(await stored()).toMatchObject({ status: "unknown" });
});

test.each<[string, (context: CallContext) => Promise<unknown>]>([
  ["a question", ({ confirm }) => confirm("sure")],
  ["a step", ({ step }) => step("inner", () => 1)],
  ["a step of its own name", ({ step }) => step("pay", () => 1)],
])("a step cannot contain %s, for which it would wait for ever: it fails", async (_what, nested) => {
  const call = tool(async (context) => context.step("pay", async () => void (await nested(context))));
  const error = expect.stringContaining('inside the step "pay"') as string;
  expect(await pumped(clock, call({}, use))).toEqual({ status: "failed", error });
  expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
});

test("a step that has ended keeps nothing from asking, not even what it has begun", async () => {
  const call = tool(async ({ step, confirm }) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const later: Promise<unknown>[] = [];
    await step("pay", () => void later.push(ended.then(() => confirm("sure"))));
    end();
    await Promise.all(later);
    return "done";
  });
  expect((await call({}, use)).status).toBe("pending");
});

test("a step still running when the function fails is waited for: the call ends with all that it did", async () => {
  const paying = Promise.withResolvers<void>();
  const ran: string[] = [];
  const call = tool(async ({ step }) => {
    const pay = step("pay", async () => {
      ran.push("pays");
      await paying.promise;
      ran.push("paid");
    });
    const all = pay.then(() => step("pay more", () => void ran.push("pays more")));
    await Promise.all([all, step("tell", () => Promise.reject(new Error("no line")))]);
    return "done";
  });
  const outcome = call({}, use);
  await until(clock, async () => (await kinds()).includes("step-failed"));
  await settle(clock);
  expect((await stored()).status).toBe("executing");
  paying.resolve();
  expect(await outcome).toEqual({ status: "failed", error: "no line" });
  // And nothing more begins.
  expect(ran).toEqual(["pays", "paid"]);
  expect(await kinds()).toContain("step-done");
});

test.each<[string, (work: readonly Promise<unknown>[]) => Promise<string>]>([
  ["fails", async ([, tell]) => String(await tell)],
  ["succeeds without waiting for it", async ([, tell]) => String(await tell?.catch(() => "done"))],
])("a step whose outcome is unknown leaves the call unknown, also if the function %s", async (_how, end) => {
  const call = tool(async ({ step }) => {
    const pay = step("pay", async () => {
      await new Promise(setImmediate);
      throw new OutcomeUnknown("the line went dead");
    });
    return end([pay, step("tell", () => Promise.reject(new Error("no line")))]);
  });
  await pumped(clock, call({}, use));
  expect((await stored()).status).toBe("unknown");
});

test("a step still running when another one's outcome is unknown is waited for: a person who has the call run again does not repeat it", async () => {
  const ran: string[] = [];
  const shipping = Promise.withResolvers<void>();
  const call = tool(async ({ step }) => {
    const pay = step("pay", () => {
      ran.push("pays");
      if (ran.length < 3) throw new OutcomeUnknown("the line went dead");
    });
    const ship = step("ship", async () => {
      ran.push("ships");
      await shipping.promise;
    });
    await Promise.all([pay, ship]);
    return "done";
  });
  call({}, use).catch(() => {});
  await until(clock, async () => ran.length === 2);
  await settle(clock);
  expect((await stored()).status).toBe("executing");
  shipping.resolve();
  await until(clock, async () => (await stored()).status === "unknown");
  const { id } = await stored();
  await engine.decisions.settle({ call: id }, { as: "retry" }, { by: ana });
  expect(await engine.finished(id)).toMatchObject({ status: "succeeded" });
  expect(ran).toEqual(["pays", "ships", "pays"]);
});

test("a step still running when the tool asks differently than before is waited for", async () => {
  const ran: string[] = [];
  const paying = Promise.withResolvers<void>();
  const call = tool(async ({ step, confirm, attempt }) => {
    if (attempt === 1) return void (await confirm("sure"));
    const pay = step("pay", async () => {
      await paying.promise;
      ran.push("paid");
    });
    await Promise.all([pay, confirm("really")]);
    return "done";
  });
  await call({}, use);
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  await tryApprove(engine, String(open?.confirmation.id), { by: ana });
  await settle(clock);
  expect((await stored()).status).toBe("executing");
  paying.resolve();
  await until(clock, async () => (await stored()).status !== "executing");
  expect(await stored()).toMatchObject({ status: "failed", result: { code: "replay-diverged" } });
  expect(ran).toEqual(["paid"]);
});

test("a step may run beside those of other names, and after one of its own", async () => {
  const call = tool(async ({ step }) => {
    const both = await Promise.all([step("pay ana", () => 1), step("pay bob", () => 2)]);
    return [...both, await step("pay ana", () => 3)];
  });
  expect(await call({}, use)).toEqual({ status: "succeeded", result: [1, 2, 3] });
});

test.each(Array.from({ length: 16 }, (_, ticks) => ticks))(
  "a step whose outcome is unknown leaves the call unknown, also if the function returns %s ticks later",
  async (ticks) => {
    const call = tool(async ({ step }) => {
      const began = Promise.withResolvers<void>();
      const paid = Promise.withResolvers<void>();
      step("pay", () => {
        began.resolve();
        return paid.promise;
      }).catch(() => {});
      await began.promise;
      paid.reject(new OutcomeUnknown("the line went dead"));
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      return "done";
    });
    await pumped(clock, call({}, use));
    expect((await stored()).status).toBe("unknown");
  },
);

test("a step whose outcome is unknown leaves the call unknown, also if the function asks meanwhile", async () => {
  const call = tool(async ({ step, confirm }) => {
    const began = Promise.withResolvers<void>();
    const pay = step("pay", async () => {
      began.resolve();
      await new Promise(setImmediate);
      throw new OutcomeUnknown("the line went dead");
    });
    await began.promise;
    await Promise.all([pay, confirm("sure")]);
    return "done";
  });
  await pumped(clock, call({}, use));
  expect((await stored()).status).toBe("unknown");
  // Nobody is asked about a call of which nobody knows what it did.
  expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
});
