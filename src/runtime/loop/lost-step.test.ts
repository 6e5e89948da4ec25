import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { ManualClock } from "../../engine/index.ts";
import { until, watch } from "../../engine/testing/execution.ts";
import { Agent, createLedger, type Ledger, type Model, Runner } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";

const LEASE_MS = 15_000;
const resources = useResources();
const ana = { user: "ana", session: "s1" };

/** A process whose model never answers, until it is killed. */
function doomed(
  ledger: Ledger,
  clock: ManualClock,
): { readonly runner: Runner; readonly die: () => Promise<void> } {
  let asked = false;
  const model: Model = {
    name: "deadly",
    async *generate() {
      asked = true;
      await new Promise(() => {});
      yield { parts: [] };
    },
  };
  const watched = watch(ledger);
  const runner = new Runner({ agent: new Agent({ name: "bot", model }), ledger: watched.ledger, clock });
  const die = async (): Promise<void> => {
    await until(clock, () => asked);
    watched.cut();
    await clock.advance(LEASE_MS);
  };
  return { runner, die };
}

test("a model step that takes five processes with it fails, and its session can be used again", async () => {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  const first = doomed(ledger, clock);
  first.runner.send("hello", ana).catch(() => {});
  await first.die();
  for (let lost = 2; lost <= 5; lost += 1) {
    const next = doomed(ledger, clock);
    next.runner.work({ once: true }).catch(() => {});
    await next.die();
  }
  let asked = 0;
  const model = scripted(() => `answer ${++asked}`);
  const survivor = new Runner({ agent: new Agent({ name: "bot", model }), ledger, clock });
  await survivor.work({ once: true });
  expect(asked).toBe(0);
  const session = await survivor.sessionService.getSession({
    appName: "bot",
    userId: "ana",
    sessionId: "s1",
  });
  expect(session?.events.at(-1)).toMatchObject({ author: "bot", errorCode: "step-lost" });
  expect(await survivor.send("hello again", ana)).toMatchObject({ status: "completed", text: "answer 1" });
});
