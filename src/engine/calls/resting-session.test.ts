import { expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { historyOf } from "../frames/history-of.ts";
import { finishFrame, partsOf, receiveMessage } from "../index.ts";
import { hostOf, killableEngine, message, modelSays, settle } from "../testing/execution.ts";

const LEASE_MS = 15_000;
const session = { app: "bank", user: "ana", id: "s1" };

test("a frame taken over from a dead process is stepped with what that process wrote", async () => {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  const survivor = new Engine({ ledger, clock });
  const seen: number[] = [];
  survivor.host(
    hostOf("bank", {}, async (frame) => {
      seen.push((await historyOf(partsOf(survivor), frame)).length);
      await finishFrame(partsOf(survivor), frame, { status: "done", event: modelSays("hi") });
    }),
  );
  const first = await receiveMessage(partsOf(survivor), message(session, "hello"));
  if (!first.ok) throw new Error(first.message);
  partsOf(survivor).executions.step(first.frame);
  await partsOf(survivor).executions.idle();
  expect(seen).toEqual([1]);

  // Another process takes the next message, and dies before its step.
  const { engine: doomed, crash } = killableEngine(ledger, clock);
  doomed.host(hostOf("bank", {}, async () => {}));
  const next = message(session, "pay 5, no: pay nothing");
  const second = await receiveMessage(partsOf(doomed), next);
  if (!second.ok) throw new Error(second.message);
  crash();
  await clock.advance(LEASE_MS);
  await survivor.work({ once: true });
  await settle(clock);
  // user, bot, user
  expect(seen).toEqual([1, 3]);
  await ledger.close();
});

test("a long session is read once, and its next steps see what the ledger has", async () => {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  const { engine, watched } = killableEngine(ledger, clock);
  const events = Array.from({ length: 500 }, (_, n) => modelSays(`earlier ${n}, ${"long ".repeat(50)}`));
  await engine.createSession(session, {}, { events });
  const seen: unknown[] = [];
  engine.host(
    hostOf("bank", {}, async (frame) => {
      seen.push(await historyOf(partsOf(engine), frame));
      await finishFrame(partsOf(engine), frame, { status: "done", event: modelSays("hi") });
    }),
  );
  const reads: number[] = [];
  const stored: unknown[] = [];
  for (const n of [1, 2, 3]) {
    const received = await receiveMessage(partsOf(engine), message(session, "hello", `i${n}`));
    if (!received.ok) throw new Error(received.message);
    stored.push(await ledger.events(received.frame.session));
    partsOf(engine).executions.step(received.frame);
    await partsOf(engine).executions.idle();
    reads.push(watched.count("events"));
  }
  expect(reads).toEqual([1, 1, 1]);
  expect(seen).toEqual(stored);
  await ledger.close();
});
