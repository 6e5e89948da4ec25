import { expect, test } from "vitest";
import { ANA, DEFINITION, openEngineFixture, TestApp } from "../../../test/attack/support/engine-fixture.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { partsOf, receiveMessage, recordTurn } from "../index.ts";
import { oneApproval } from "../people/index.ts";
import { cancelRun, deleteSession } from "../sessions/index.ts";
import { killableEngine, until } from "../testing/execution.ts";

const LEASE_MS = 15_000;
const SESSION = { app: "finance", user: "ana", id: "s" };
const QUESTION = {
  requirements: oneApproval("requester"),
  requesters: ["ana"],
  shown: { hint: "Pay?", why: ["the tool asks"] },
};

const message = (invocationId: string) =>
  ({
    session: SESSION,
    event: { author: "user", invocationId, content: { role: "user", parts: [{ text: "Go." }] } },
    frame: { kind: "llm", agent: "clerk", path: ["clerk"] },
  }) as const;

/** An approved call whose process died while it ran. No process hosts its app, so it waits to be run again. */
async function released() {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  const { engine, crash } = killableEngine(ledger, clock);
  const app = new TestApp("finance");
  app.define("pay", { run: () => new Promise(() => {}) });
  engine.host(app);
  const received = await receiveMessage(partsOf(engine), message("inv-1"));
  if (!received.ok) throw new Error(received.message);
  const calls = ["paid", "asked"].map((wireId) => ({
    wireId,
    tool: "pay",
    args: { wireId },
    definitionDigest: DEFINITION,
    repeatable: true,
    plan: { kind: "ask", question: QUESTION } as const,
  }));
  const turn = await recordTurn(partsOf(engine), received.frame, {
    event: { author: "clerk", invocationId: "inv-1" },
    calls,
  });
  const [paid] = turn?.asked ?? [];
  if (paid === undefined) throw new Error("nothing was asked");
  await engine.approve(paid.confirmation.id, { by: ANA });
  await until(clock, () => app.runs.length === 1);
  crash();
  const survivor = new Engine({ ledger, clock });
  await clock.advance(LEASE_MS);
  await survivor.work({ once: true });
  const call = async () => (await ledger.calls([paid.call.id]))[0];
  expect(await call()).toMatchObject({ status: "ready", attempt: 1, lost: 1 });
  return {
    ledger,
    parts: partsOf(survivor),
    survivor,
    confirmation: paid.confirmation.id,
    session: paid.call.session,
    call,
  };
}

test.each<[string, (scene: Awaited<ReturnType<typeof released>>) => Promise<unknown>, object]>([
  [
    "its approval is withdrawn",
    ({ survivor, confirmation }) => survivor.decisions.cancel(confirmation, { by: ANA, reason: "no" }),
    { ok: false, code: "not-cancellable" },
  ],
  [
    "its run is stopped",
    async ({ parts, session }) => ({
      ok: await cancelRun(parts, { session, invocation: "inv-1", reason: "stop" }),
    }),
    { ok: true },
  ],
  [
    "a message takes the place of what is asked",
    ({ parts }) =>
      receiveMessage(parts, { ...message("inv-2"), cancelsAsking: "the user sent a new message" }),
    { ok: true },
  ],
  [
    "its session is deleted",
    ({ parts }) => deleteSession(parts, SESSION, { by: ANA }),
    { ok: false, code: "call-executing" },
  ],
])("nobody is told that a call did not run whose process was lost, when %s", async (_, withdraw, outcome) => {
  const scene = await released();
  expect(await withdraw(scene)).toMatchObject(outcome);
  expect(await scene.call()).toMatchObject({ status: "unknown", attempt: 1 });
  expect((await scene.ledger.unknownCalls()).items).toMatchObject([{ wireId: "paid" }]);
  const settled = await scene.survivor.decisions.settle(
    { confirmation: scene.confirmation },
    { as: "succeeded", result: "paid" },
    { by: ANA },
  );
  expect(settled).toMatchObject({ ok: true, call: { status: "succeeded" } });
  expect(await scene.survivor.verify()).toMatchObject({ ok: true });
});

test("the model is told that a call had started which asked while it ran, when its question is withdrawn", async () => {
  const fixture = await openEngineFixture();
  fixture.app.define("pay", {
    run: async (_call, { step, confirm }) => {
      await step("charge", () => "charged");
      await confirm("ship");
      return "shipped";
    },
  });
  const { confirmation, call } = await fixture.ask({ tool: "pay" });
  await fixture.engine.approve(confirmation.id, { by: ANA });
  await until(fixture.clock, async () => (await fixture.call(call.id)).status === "suspended");
  const { confirmation: asked = "" } = await fixture.call(call.id);
  expect(await fixture.engine.decisions.cancel(asked, { by: ANA, reason: "no" })).toMatchObject({ ok: true });
  expect((await fixture.call(call.id)).result).toMatchObject({
    error: "tool call was withdrawn before it finished; a part of it may have been done",
  });
});

test("a run is not stopped as one that did nothing if a call of it has just started", async () => {
  const fixture = await openEngineFixture();
  const body = Promise.withResolvers<null>();
  fixture.app.define("pay", { run: () => body.promise });
  const [paid, asked] = await fixture.askAll([{ tool: "pay" }, { tool: "look" }]);
  if (paid === undefined || asked === undefined) throw new Error("nothing was asked");
  const parts = partsOf(fixture.engine);
  const run = {
    session: paid.call.session,
    invocation: "inv-1",
    reason: "stop",
    unlessStarted: true,
  } as const;
  await fixture.engine.approve(paid.confirmation.id, { by: ANA });
  expect(await cancelRun(parts, run)).toBe(false);
  expect(await fixture.confirmation(asked.confirmation.id)).toMatchObject({ status: "requested" });
  body.resolve(null);
});
