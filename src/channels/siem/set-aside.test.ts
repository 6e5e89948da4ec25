import { expect, test } from "vitest";
import { status, WebhookReceiver } from "../../../test/support/http/webhook-receiver.ts";
import { dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { useResources } from "../../../test/support/resources.ts";
import { RestingClock } from "../../../test/support/resting-clock.ts";
import { Engine, type Ledger } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { createSiem, dropSetAside, listSetAside, retrySetAside } from "./index.ts";

const resources = useResources();
const STEP_MS = 2_000;
const HELD_MS = 30_000;
const MOST_WRITES = 20;

interface Scene {
  readonly ledger: Ledger;
  readonly clock: RestingClock;
  readonly receiver: WebhookReceiver;
  /** The first of the journal's records, which the address refuses. */
  readonly odd: number;
  readonly start: (over?: Ledger) => Promise<{ stop(): Promise<void> }>;
  /** Lets time pass until it is so, whenever the export has done what it can do by then. */
  readonly until: (isSo: () => boolean | Promise<boolean>) => Promise<void>;
  /** How often the address was sent the record, as the only one. */
  readonly sent: () => number;
  accept: boolean;
  problems: string[];
}

async function createScene(): Promise<Scene> {
  const clock = new RestingClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  const engine = new Engine({ ledger, clock });
  const gated = engine.gate("pay", { requireConfirmation: true }, async () => 1);
  for (const key of ["a", "b", "c"]) await gated({ to: key }, { key, by: { id: "ana" } });
  const [first] = await ledger.journal.records({ after: 0, limit: 1 });
  const odd = first?.seq ?? 0;
  const isOdd = (body: string): boolean => body.includes(`"seq":${odd},`);
  const scene: Scene = {
    ledger,
    clock,
    receiver,
    odd,
    accept: false,
    problems: [],
    async start(over = ledger) {
      const siem = createSiem({ ledger: over, clock, url: receiver.url });
      const running = siem.start({
        onProblem: (it) => scene.problems.push(it),
        onError: (error) => scene.problems.push(String(error)),
      });
      resources.add(() => running.stop());
      return running;
    },
    async until(isSo) {
      for (;;) {
        await clock.rested(1);
        if (await isSo()) return;
        await clock.advance(STEP_MS);
      }
    },
    sent: () =>
      receiver.received.filter(({ body }) => isOdd(body) && body.trim().split("\n").length === 1).length,
  };
  receiver.answer = (response, received) =>
    status(isOdd(received.body) && !scene.accept ? 422 : 204)(response, received);
  return scene;
}

/** An export that has set its first record aside, and runs. */
async function setAside(): Promise<Scene> {
  const scene = await createScene();
  await scene.start();
  await scene.until(async () => (await listSetAside(scene.ledger.items)).length === 1);
  return scene;
}

test("a record that was set aside is sent again where somebody asks for it, once, under the same id", async () => {
  const scene = await setAside();
  const { ledger, odd, until, sent } = scene;
  const before = sent();
  expect(await retrySetAside(ledger.items, { name: "siem", seq: odd })).toBe(1);
  await until(async () => (await listSetAside(ledger.items))[0]?.newest[0]?.again === undefined);
  // It is refused once more, and stays where it is.
  expect(await listSetAside(ledger.items)).toMatchObject([
    { name: "siem", count: 1, newest: [{ seq: odd }] },
  ]);
  expect(sent()).toBe(before + 1);
  scene.accept = true;
  expect(await retrySetAside(ledger.items, "all")).toBe(1);
  await until(async () => (await listSetAside(ledger.items)).length === 0);
  expect(sent()).toBe(before + 2);
  await expect(retrySetAside(ledger.items, { name: "siem", seq: odd })).rejects.toMatchObject({
    code: "unknown-delivery",
  });
  expect(await retrySetAside(ledger.items, "all")).toBe(0);
});

test("what is dropped is neither listed nor sent, and the export goes on", async () => {
  const { ledger, odd, sent, clock, until } = await setAside();
  const before = sent();
  await expect(dropSetAside(ledger.items, { name: "siem", seq: odd + 1 })).rejects.toMatchObject({
    code: "unknown-delivery",
  });
  expect(await dropSetAside(ledger.items, { name: "siem", seq: odd })).toBe(1);
  expect(await listSetAside(ledger.items)).toEqual([]);
  const laterAt = clock.now() + HELD_MS;
  await until(() => clock.now() > laterAt);
  expect(sent()).toBe(before);
});

test.each([true, false])(
  "a process that dies while it sends one again loses nothing: it is listed until it is accepted (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const scene = await createScene();
      const { ledger, clock, until, odd, sent, problems } = scene;
      const first = await scene.start();
      await until(async () => (await listSetAside(ledger.items)).length === 1);
      await first.stop();
      scene.accept = true;
      await retrySetAside(ledger.items, "all");
      problems.length = 0;
      const before = sent();
      const dying = await scene.start(dyingStore(ledger, { writes, committed }));
      await until(async () => problems.length > 0 || (await listSetAside(ledger.items)).length === 0);
      const died = problems.some((problem) => problem.includes("died"));
      // Either it is still listed, or the address has it.
      const [left] = await listSetAside(ledger.items);
      expect({ writes, isKept: left?.newest[0]?.seq === odd || sent() > before }).toEqual({
        writes,
        isKept: true,
      });
      await dying.stop();
      await clock.advance(HELD_MS);
      await scene.start();
      await until(async () => (await listSetAside(ledger.items)).length === 0);
      expect(sent()).toBeGreaterThan(before);
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);
