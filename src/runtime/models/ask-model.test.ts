import { expect, test } from "vitest";
import { useRunners } from "../../../test/seeds/scripted-runner.ts";
import { ManualClock } from "../../engine/index.ts";
import { Agent, type Model } from "../../index.ts";
import type { ModelChunk } from "../../runtime.ts";

const makeRunner = useRunners();
const MINUTE_MS = 60_000;
const ana = { user: "ana", session: "s1" } as const;

/** A model that says what the test gives it, when the test gives it, and does not listen to its signal. */
function heldModel() {
  const signals: AbortSignal[] = [];
  let waiting = Promise.withResolvers<ModelChunk>();
  const model: Model = {
    name: "slow",
    async *generate(_request, { signal }) {
      signals.push(signal);
      for (;;) {
        const chunk = await waiting.promise;
        waiting = Promise.withResolvers();
        yield chunk;
        if (chunk.partial !== true) return;
      }
    },
  };
  return {
    model,
    signals,
    give: (text: string, partial = false) => waiting.resolve({ parts: [{ text }], partial }),
  };
}

test("a model that hangs is stopped after ten minutes; its session can be used, and later output is discarded", async () => {
  const clock = new ManualClock();
  const { model, signals, give } = heldModel();
  const runner = makeRunner({ agent: new Agent({ name: "bot", model }), clock });
  const first = runner.send("hello", ana);
  await expect.poll(() => signals.length).toBe(1);
  await clock.advance(10 * MINUTE_MS - 1);
  expect(signals[0]?.aborted).toBe(false);
  await clock.advance(1);
  expect(await first).toMatchObject({ status: "failed", error: { code: "timed-out" } });
  expect(signals[0]?.aborted).toBe(true);
  give("far too late");
  const second = runner.send("again", ana);
  await expect.poll(() => signals.length).toBe(2);
  give("here I am");
  expect(await second).toMatchObject({ status: "completed", text: "here I am" });
  const { events } =
    (await runner.sessionService.getSession({ appName: "bot", userId: "ana", sessionId: "s1" })) ?? {};
  expect(JSON.stringify(events)).not.toContain("far too late");
});

test("each piece of a model's answer restarts the timeout", async () => {
  const clock = new ManualClock();
  const { model, signals, give } = heldModel();
  const runner = makeRunner({ agent: new Agent({ name: "bot", model }), clock, modelTimeoutMs: MINUTE_MS });
  const turn = runner.send("hello", ana);
  await expect.poll(() => signals.length).toBe(1);
  for (let piece = 0; piece < 5; piece += 1) {
    await clock.advance(MINUTE_MS - 1);
    give("piece", true);
    await clock.advance(0);
  }
  give("the whole");
  expect(await turn).toMatchObject({ status: "completed", text: "the whole" });
});
