import { describe, expect, test } from "vitest";
import { call, collect, play, respond, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { partsOf } from "../../engine/index.ts";
import { Agent, tool } from "../../index.ts";
import { ManualClock } from "../../testing.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

const look = tool({ name: "look", description: "", execute: () => "seen" });

/** A model that has been asked and does not answer. */
function silent() {
  const asked = Promise.withResolvers<void>();
  const model = play(() => {
    asked.resolve();
    return new Promise<string>(() => {});
  }, "I am back.");
  return { model, asked: asked.promise };
}

describe("max model calls", () => {
  test("a model that goes round in circles is stopped, and the turn says so", async () => {
    const model = respond(() => [call("look")]);
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [look] }), maxModelCalls: 3 });
    expect(await runner.send("go", ana)).toMatchObject({
      status: "failed",
      error: { code: "model-calls-exhausted" },
    });
    expect(model.requests).toHaveLength(3);
  });

  test("limits start again with every message", async () => {
    const model = play([call("look")], "One.", [call("look")], "Two.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [look] }), maxModelCalls: 2 });
    await runner.send("go", { ...ana, session: "s" });
    expect(await runner.send("again", { ...ana, session: "s" })).toMatchObject({ text: "Two." });
  });
});

describe("the caller's signal", () => {
  test("stops a model that thinks: the turn says so, and the session can be talked to again", async () => {
    const { model, asked } = silent();
    const runner = makeRunner({ agent: new Agent({ name: "a", model }) });
    const controller = new AbortController();
    const turn = runner.send("go", { ...ana, session: "s", signal: controller.signal });
    await asked;
    controller.abort();
    expect(await turn).toMatchObject({ status: "failed", error: { code: "cancelled" } });
    expect(await runner.send("and now?", { ...ana, session: "s" })).toMatchObject({ text: "I am back." });
  });

  test("reaches a tool that runs; its result is still recorded, and the model is not asked again", async () => {
    const started = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const dig = tool({
      name: "dig",
      description: "",
      execute: (_args, ctx) =>
        ctx.step("dig", ({ signal }) => {
          started.resolve();
          return new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              resolve("half a hole");
            });
          });
        }),
    });
    const model = play([call("dig", {}, "c1")]);
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [dig] }) });
    const controller = new AbortController();
    const turn = runner.send("go", { ...ana, session: "s", signal: controller.signal });
    await started.promise;
    controller.abort();
    const { invocation } = await turn;
    await partsOf(await runner.engine()).executions.settledIn(invocation);
    expect(reasons).toEqual(["The caller cancelled the run."]);
    const session = await runner.sessionService.getSession({ userId: "ana", sessionId: "s" });
    const results = session?.events.flatMap(
      ({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [],
    );
    expect(results).toMatchObject([{ response: { result: "half a hole" } }]);
    expect(model.requests).toHaveLength(1);
  });

  test("aborted before the run began, it stops it", async () => {
    const runner = makeRunner({ agent: new Agent({ name: "a", model: silent().model }) });
    const turn = await runner.send("go", { ...ana, signal: AbortSignal.abort() });
    expect(turn).toMatchObject({ status: "failed", error: { code: "cancelled" } });
  });

  test("withdraws what a provider is being asked", async () => {
    const called = Promise.withResolvers<void>();
    const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute: () => "paid" });
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play([call("pay")]),
        tools: [pay],
        confirmationProvider: () => {
          called.resolve();
          return new Promise(() => {});
        },
      }),
    });
    const controller = new AbortController();
    const turn = runner.send("go", { ...ana, signal: controller.signal });
    await called.promise;
    controller.abort();
    expect(await turn).toMatchObject({ status: "failed", pending: [] });
  });

  test("of a stream ends the stream with the error", async () => {
    const { model, asked } = silent();
    const runner = makeRunner({ agent: new Agent({ name: "a", model }) });
    const controller = new AbortController();
    const events = collect(
      runner.stream({ userId: "ana", sessionId: "s", message: "go", signal: controller.signal }),
    );
    await asked;
    controller.abort();
    expect(await events).toEqual([
      { type: "error", code: "cancelled", message: "The caller cancelled the run." },
      { type: "complete", content: "" },
    ]);
  });

  test("does nothing to a run that is over, or that waits for a person", async () => {
    const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute: () => "paid" });
    const runner = makeRunner({
      agent: new Agent({ name: "a", model: play([call("pay")], "Paid."), tools: [pay] }),
    });
    const controller = new AbortController();
    const turn = await runner.send("go", { ...ana, signal: controller.signal });
    controller.abort();
    const { finished } = await runner.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "Paid." });
  });
});

describe("a timeout", () => {
  test("stops a run that is still at work after so long", async () => {
    const clock = new ManualClock();
    const { model, asked } = silent();
    const runner = makeRunner({ agent: new Agent({ name: "a", model }), clock });
    const turn = runner.send("go", { ...ana, timeoutMs: 1000 });
    await asked;
    await clock.advance(1000);
    expect(await turn).toMatchObject({
      status: "failed",
      error: { code: "timed-out", message: "The run timed out after 1000 ms." },
    });
  });

  test("does not count the time in which a provider asks a person", async () => {
    const clock = new ManualClock();
    const called = Promise.withResolvers<void>();
    const decision = Promise.withResolvers<boolean>();
    const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute: () => "paid" });
    const runner = makeRunner({
      clock,
      agent: new Agent({
        name: "a",
        model: play([call("pay")], "Paid."),
        tools: [pay],
        confirmationProvider: () => {
          called.resolve();
          return decision.promise;
        },
      }),
    });
    const turn = runner.send("go", { ...ana, timeoutMs: 1000 });
    await called.promise;
    await clock.advance(1000);
    await clock.advance(1000);
    decision.resolve(true);
    expect(await turn).toMatchObject({ status: "completed", text: "Paid." });
  });
});
