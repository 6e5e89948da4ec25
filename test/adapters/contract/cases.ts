import { expect, vi } from "vitest";
import type { Engine } from "../../../src/engine/index.ts";
import { identity } from "./identity-cases.ts";
import { ana, question, questions, type Scene } from "./scene.ts";
import { streaming } from "./streaming-cases.ts";
import type { AdapterHost, ModelCall, Progress } from "./subject.ts";

/** One thing that every adapter must keep. */
export interface AdapterCase {
  readonly name: string;
  readonly run: (scene: Scene) => Promise<void>;
}

/** A text with this part. */
const text = (part: string): string => expect.stringContaining(part) as string;
const PATIENCE = { timeout: 50_000, interval: 100 };
const pay = (id: string, amount: number, more: ModelCall["args"] = {}): ModelCall => ({
  id,
  tool: "pay",
  args: { amount, ...more },
});

interface Asked {
  readonly engine: Engine;
  readonly host: AdapterHost;
  readonly paused: Progress;
}

/** A conversation that waits for these calls. */
async function ask(scene: Scene, ...calls: readonly ModelCall[]): Promise<Asked> {
  const engine = await scene.engine();
  const host = scene.host(engine);
  const paused = await host.send(calls);
  expect(paused.status).toBe("paused");
  expect(scene.paid).toEqual([]);
  return { engine, host, paused };
}

async function approve(engine: Engine, more: { readonly args?: ModelCall["args"] } = {}): Promise<void> {
  await engine.approve((await question(engine)).id, { by: ana, ...more });
}

const asking: readonly AdapterCase[] = [
  {
    name: "a gated call waits, runs once it is approved, and the model hears the result",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40));
      const asked = await question(engine);
      expect(asked).toMatchObject({
        tool: "pay",
        args: { amount: 40 },
        hint: "Pay 40?",
        session: "thread-1",
      });
      expect(await host.resume(paused.state)).toMatchObject({ status: "paused" });
      await approve(engine);
      const done = await host.resume(paused.state);
      expect(done).toMatchObject({ status: "done", told: { c1: text('"paid":40') } });
      expect(scene.paid).toEqual([40]);
      expect(await engine.verify()).toMatchObject({ ok: true });
    },
  },
  {
    name: "a call below the rule's limit runs at once; one whose rule fails is asked about",
    async run(scene) {
      const engine = await scene.engine();
      const done = await scene.host(engine).send([pay("c1", 5)]);
      expect(done).toMatchObject({ status: "done", told: { c1: text('"paid":5') } });
      const paused = await scene.host(engine, { thread: "thread-2" }).send([pay("c1", 13)]);
      expect(paused).toMatchObject({ status: "paused" });
      expect(scene.paid).toEqual([5]);
    },
  },
  {
    name: "a tool without a rule is not gated, also beside a call that waits",
    async run(scene) {
      const { engine, host, paused } = await ask(
        scene,
        { id: "n1", tool: "note", args: { text: "hello" } },
        pay("c1", 40),
      );
      await approve(engine);
      const done = await host.resume(paused.state);
      expect(done.told).toMatchObject({
        n1: text("hello"),
        c1: text("40"),
      });
    },
  },
  {
    name: "the model waits until every call of the turn has its answer",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40), pay("c2", 50));
      const [first, second] = await questions(engine);
      await engine.approve(first?.id ?? "", { by: ana });
      expect(await host.resume(paused.state)).toMatchObject({ status: "paused" });
      await engine.deny(second?.id ?? "", { by: ana, reason: "too much" });
      const done = await host.resume(paused.state);
      expect(done).toMatchObject({
        status: "done",
        told: { c1: text('"paid":40'), c2: text("too much") },
      });
      expect(scene.paid).toEqual([40]);
    },
  },
];

const deciding: readonly AdapterCase[] = [
  {
    name: "a forged approval in the framework's own state runs nothing and raises no question",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40));
      await host.forge(paused.state).catch(() => {});
      expect(scene.paid).toEqual([]);
      expect(await questions(engine)).toHaveLength(1);
      const elsewhere = scene.host(engine, { thread: "thread-2" });
      await elsewhere.forge(paused.state).catch(() => {});
      expect(scene.paid).toEqual([]);
    },
  },
  {
    name: "an approver's changed arguments run, and the model is told",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40));
      await approve(engine, { args: { amount: 20 } });
      const done = await host.resume(paused.state);
      expect(done.told["c1"]).toContain('"paid":20');
      expect(done.told["c1"]).toContain("An approver changed the arguments");
      expect(scene.paid).toEqual([20]);
    },
  },
  {
    name: "a default that is another one at each parse is asked about once, and runs as it was shown",
    async run(scene) {
      const { engine, paused } = await ask(scene, { id: "c1", tool: "order", args: { amount: 40 } });
      const { args } = await question(engine);
      expect(args).toEqual({ amount: 40, number: expect.any(String) as string });
      const other = scene.host(await scene.engine());
      expect(await other.resume(paused.state)).toMatchObject({ status: "paused" });
      await approve(engine);
      const done = await other.resume(paused.state);
      expect(done).toMatchObject({ status: "done", told: { c1: text('"paid":40') } });
      expect(scene.payments).toEqual([args]);
      expect(await questions(engine)).toEqual([]);
    },
  },
  {
    name: "a denial reaches the model with its reason",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40));
      await engine.deny((await question(engine)).id, { by: ana, reason: "not this month" });
      const done = await host.resume(paused.state);
      expect(done).toMatchObject({ status: "done", told: { c1: text("not this month") } });
      expect(scene.paid).toEqual([]);
    },
  },
  {
    name: "a question that nobody answers in time ends, and the model hears it",
    async run(scene) {
      const engine = await scene.engine();
      const host = scene.host(engine, { expiresInMs: 1 });
      const { state } = await host.send([pay("c1", 40)]);
      const done = await vi.waitFor(async () => {
        await engine.work({ once: true });
        const progress = await host.resume(state);
        expect(progress.status).toBe("done");
        return progress;
      }, PATIENCE);
      expect(done.told["c1"]).toMatch(/expired|in time/);
      expect(scene.paid).toEqual([]);
    },
  },
  {
    name: "a tool that is not what the approver saw does not run; people are asked again",
    async run(scene) {
      const { engine, paused } = await ask(scene, pay("c1", 40));
      await approve(engine);
      const changed = scene.host(engine, { description: "Pays an amount, twice." });
      await changed.resume(paused.state).catch(() => {});
      expect(scene.paid).toEqual([]);
      expect((await question(engine)).why[0]).toContain("the tool changed");
      await approve(engine);
      expect(await changed.resume(paused.state)).toMatchObject({ status: "done" });
      expect(scene.paid).toEqual([40]);
    },
  },
  {
    name: "a conversation that moves on leaves no question behind",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40));
      const { id } = await question(engine);
      expect(await host.cancel("the user moved on")).toBe(1);
      await expect(engine.approve(id, { by: ana })).rejects.toMatchObject({ code: "withdrawn" });
      await host.forge(paused.state).catch(() => {});
      expect(scene.paid).toEqual([]);
    },
  },
  {
    name: "an id that a later turn uses again is another call",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40));
      await approve(engine);
      const { state } = await host.resume(paused.state);
      const later = await host.send([pay("c1", 40)], state);
      expect(later.status).toBe("paused");
      expect(scene.paid).toEqual([40]);
      await approve(engine);
      expect(await host.resume(later.state)).toMatchObject({ status: "done" });
      expect(scene.paid).toEqual([40, 40]);
    },
  },
];

const dying: readonly AdapterCase[] = [
  {
    name: "a resume that is sent three times at once runs the call once",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40));
      await approve(engine);
      const others = [scene.host(await scene.engine()), scene.host(await scene.engine())];
      const all = await Promise.all([host, ...others].map((each) => each.resume(paused.state)));
      expect(all.map(({ told }) => told["c1"])).toEqual(all.map(() => text('"paid":40')));
      await host.resume(paused.state);
      expect(scene.paid).toEqual([40]);
    },
  },
  {
    name: "of three processes that go on at once one runs the call",
    async run(scene) {
      const { engine, paused } = await ask(scene, pay("c1", 40));
      await approve(engine);
      const processes = await Promise.all([1, 2, 3].map(() => scene.process(paused.state)));
      for (const process of processes) process.send({ type: "go" });
      for (const process of processes) {
        const line = await process.line("progress");
        expect(line).toMatchObject({ progress: { told: { c1: text('"paid":40') } } });
      }
      expect(scene.paid).toEqual([40]);
    },
  },
  {
    name: "a process that is killed inside the tool leaves the call unknown: it never runs again, and goes on once it is settled",
    async run(scene) {
      const { engine, host, paused } = await ask(scene, pay("c1", 40, { hang: true }));
      const { id } = await question(engine);
      await approve(engine);
      const process = await scene.process(paused.state, { leaseMs: 1_000 });
      process.send({ type: "go" });
      await process.line("entered");
      await process.kill();
      await vi.waitFor(async () => {
        expect(await host.resume(paused.state)).toMatchObject({ status: "paused" });
        expect(await engine.confirmation(id)).toMatchObject({ status: "unknown" });
      }, PATIENCE);
      await engine.settle(id, { as: "succeeded", result: { paid: "by hand" } }, { by: ana });
      const done = await host.resume(paused.state);
      expect(done).toMatchObject({ status: "done", told: { c1: text("by hand") } });
      expect(scene.paid).toEqual([40]);
    },
  },
  {
    name: "a decision that is taken while the program is down brings it back",
    async run(scene) {
      const { engine, paused } = await ask(scene, pay("c1", 40));
      const notices = engine.callers.onReady({ app: "shop" }, async () => {});
      await notices.started;
      await notices.stop();
      await engine.close();

      await approve(await scene.engine());

      const restarted = await scene.engine();
      const host = scene.host(restarted);
      const { promise: done, resolve } = Promise.withResolvers<Progress>();
      const again = restarted.callers.onReady({ app: "shop" }, async ({ thread }) => {
        expect(thread).toBe("thread-1");
        resolve(await host.resume(paused.state));
      });
      expect(await done).toMatchObject({
        status: "done",
        told: { c1: text('"paid":40') },
      });
      await again.stop();
      expect(scene.paid).toEqual([40]);
    },
  },
];

/** Everything that an adapter must keep, on every store. */
export const adapterContract: readonly AdapterCase[] = [
  ...asking,
  ...deciding,
  ...identity,
  ...dying,
  ...streaming,
];
