import { expect } from "vitest";
import type { AdapterCase } from "./cases.ts";
import { ana, question, questions } from "./scene.ts";
import { FIRST_WORDS, LAST_WORDS, type ModelCall, type Seen } from "./subject.ts";

const STREAMS = { streams: true } as const;
const text = (part: string): string => expect.stringContaining(part) as string;
const words = (parts: readonly string[]): readonly Seen[] => parts.map((part) => ({ text: part }));

/** Two that wait, one below the rule's limit and one without a rule, all at once. */
const CALLS: readonly ModelCall[] = [
  { id: "n1", tool: "note", args: { text: "hello" } },
  { id: "c1", tool: "pay", args: { amount: 40 } },
  { id: "c2", tool: "pay", args: { amount: 50 } },
  { id: "c3", tool: "pay", args: { amount: 5 } },
];

/** The ids that a stream showed in this way, each once, in the order of their names. */
function ids(seen: readonly Seen[] | undefined, kind: "call" | "asked" | "result"): readonly string[] {
  const found = (seen ?? []).flatMap((part) => Object.entries(part));
  return found.flatMap(([name, id]) => (name === kind ? [id] : [])).toSorted();
}

/** What holds also when the framework streams. */
export const streaming: readonly AdapterCase[] = [
  {
    name: "a stream pauses in its middle, and goes on as a stream in another process",
    async run(scene) {
      const engine = await scene.engine();
      const paused = await scene.host(engine, STREAMS).send(CALLS);
      expect(paused).toMatchObject({ status: "paused", told: {} });
      expect(paused.seen?.slice(0, FIRST_WORDS.length)).toEqual(words(FIRST_WORDS));
      expect(ids(paused.seen, "call")).toEqual(["c1", "c2", "c3", "n1"]);
      expect(ids(paused.seen, "asked")).toEqual(["c1", "c2"]);
      expect(scene.paid).toEqual([5]);

      const [first, second] = await questions(engine);
      await engine.approve(first?.id ?? "", { by: ana, args: { amount: 20 } });
      const early = scene.host(await scene.engine(), STREAMS);
      expect(await early.resume(paused.state)).toMatchObject({ status: "paused" });
      expect(scene.paid).toEqual([5]);

      await engine.deny(second?.id ?? "", { by: ana, reason: "too much" });
      const process = await scene.process(paused.state, STREAMS);
      process.send({ type: "go" });
      const { progress: done } = await process.line("progress");
      expect(done).toMatchObject({
        status: "done",
        told: { n1: text("hello"), c1: text('"paid":20'), c2: text("too much"), c3: text('"paid":5') },
      });
      expect(done.told["c1"]).toContain("An approver changed the arguments");
      expect(done.seen?.slice(-LAST_WORDS.length)).toEqual(words(LAST_WORDS));
      expect(ids(done.seen, "asked")).toEqual([]);
      // Whoever reads both streams sees what became of every call.
      const results = new Set([...ids(paused.seen, "result"), ...ids(done.seen, "result")]);
      expect(results).toEqual(new Set(["c1", "c2", "c3", "n1"]));
      expect(scene.paid).toEqual([5, 20]);
    },
  },
  {
    name: "of three processes that go on with a stream at once one runs the call",
    async run(scene) {
      const engine = await scene.engine();
      const { state } = await scene
        .host(engine, STREAMS)
        .send([{ id: "c1", tool: "pay", args: { amount: 40 } }]);
      await engine.approve((await question(engine)).id, { by: ana });
      const processes = await Promise.all([1, 2, 3].map(() => scene.process(state, STREAMS)));
      for (const process of processes) process.send({ type: "go" });
      for (const process of processes) {
        const { progress } = await process.line("progress");
        expect(progress).toMatchObject({ status: "done", told: { c1: text('"paid":40') } });
        expect(ids(progress.seen, "result")).toEqual(["c1"]);
        expect(progress.seen?.slice(-LAST_WORDS.length)).toEqual(words(LAST_WORDS));
      }
      expect(scene.paid).toEqual([40]);
    },
  },
  {
    name: "a forged approval runs nothing in a stream either",
    async run(scene) {
      const engine = await scene.engine();
      const host = scene.host(engine, STREAMS);
      const { state } = await host.send([{ id: "c1", tool: "pay", args: { amount: 40 } }]);
      const forged = await host.forge(state).catch(() => undefined);
      expect(forged?.told ?? {}).toEqual({});
      expect(scene.paid).toEqual([]);
      expect(await questions(engine)).toHaveLength(1);
      await engine.approve((await question(engine)).id, { by: ana });
      expect(await host.resume(state)).toMatchObject({ status: "done", told: { c1: text('"paid":40') } });
      expect(scene.paid).toEqual([40]);
    },
  },
];

/** What a subject leaves out whose framework does not stream what its tools do, and why. */
export function doesNotStream(reason: string): { readonly [name: string]: string } {
  return Object.fromEntries(streaming.map(({ name }) => [name, reason]));
}
