import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Resources } from "../../support/resources.ts";
import {
  approvalOf,
  askedIn,
  payloadOf,
  type RpcAnswer,
  stateOf,
  taskIn,
  Wire,
  type WireTask,
} from "../a2a/a2a-server.ts";
import { Level } from "./level.ts";
import type { Moment } from "./server.program.ts";

// One chain for all: each test has a task of its own, and only whoever was killed is started again.
const resources = new Resources();
const SLOW = 120_000;
let levels: readonly [Level, Level, Level];
let effectsFile: string;

beforeAll(async () => {
  const folder = await resources.folder();
  effectsFile = join(folder, "effects");
  const open = async (level: number, below?: string): Promise<Level> => {
    const file = join(folder, `${level}.db`);
    const about = { file, effects: effectsFile, port: 0, ...(below === undefined ? {} : { below }) };
    return new Level(resources, about).ready();
  };
  const low = await open(2);
  const middle = await open(1, low.url);
  levels = [await open(0, middle.url), middle, low];
}, SLOW);

afterAll(() => resources.release());

/** What was deleted so far, a line each. */
async function effects(): Promise<readonly string[]> {
  const text = await readFile(effectsFile, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

async function taskCounts(): Promise<readonly number[]> {
  return Promise.all(
    levels.map(async (level) => {
      const { result } = await new Wire(level).call("ListTasks", {});
      return (result as { readonly totalSize: number }).totalSize;
    }),
  );
}

/** Sends until there is an answer; where the server has died meanwhile, it is started again first. */
async function insist(top: Level, send: (wire: Wire) => Promise<RpcAnswer>): Promise<RpcAnswer> {
  for (;;) {
    try {
      return await send(new Wire(top, { hitl: true }));
    } catch {
      await top.ended;
      await top.again();
    }
  }
}

test("an approval at the top lets the call at the bottom run, once", { timeout: SLOW }, async () => {
  const before = await effects();
  const wire = new Wire(levels[0], { hitl: true });
  const task = taskIn(await wire.say("clean up"));
  expect(stateOf(task)).toBe("input-required");
  const tools = [{ id: askedIn(task)[0], name: "delete_file", args: { path: "a" } }];
  expect(payloadOf(task)).toMatchObject({ tools, nested: { subagent_name: "desk", tools } });
  expect(await effects()).toEqual(before);
  const done = taskIn(await wire.answer(task, approvalOf(task)));
  expect([done.id, stateOf(done)]).toEqual([task.id, "completed"]);
  expect(await effects()).toEqual([...before, '{"path":"a"}']);
});

test("a run that is stopped at the top is stopped at the bottom", { timeout: SLOW }, async () => {
  const before = await effects();
  const wire = new Wire(levels[0], { hitl: true });
  const task = taskIn(await wire.say("clean up"));
  expect(stateOf(task)).toBe("input-required");
  const low = new Wire(levels[2], { hitl: true });
  const { result } = await low.call("ListTasks", {});
  const { tasks } = result as { readonly tasks: readonly WireTask[] };
  const id = tasks.find((one) => stateOf(one) === "input-required")?.id ?? "";
  const told = low.stream("SubscribeToTask", { id });
  await told.next();
  await wire.call("CancelTask", { id: task.id });
  for await (const _ of told) continue;
  expect([stateOf(taskIn(await low.get(id))), await effects()]).toEqual(["canceled", before]);
});

const MOMENTS: readonly (readonly [number, Moment])[] = ["in", "out"].flatMap((way) =>
  [1, 2].flatMap((n) =>
    ["before", "after"].flatMap((when) =>
      [0, 1, 2]
        .filter((level) => way === "in" || level < 2)
        .map((level) => [level, { way, n, when } as Moment] as const),
    ),
  ),
);

describe("killed between two messages", () => {
  test.each(MOMENTS)(
    "level %i at %o: nothing is lost and nothing runs twice",
    { timeout: SLOW },
    async (level, dies) => {
      const [before, tasks] = [await effects(), await taskCounts()];
      const [top] = levels;
      const victim = levels[level] ?? top;
      const { starts } = victim;
      await victim.arm({ dies });
      // The top is brought back by whoever talks to it.
      const revived = level === 0 ? undefined : victim.ended.then(() => victim.again());
      const messages = [`${level}-1`, `${level}-2`].map((id) => `${id}-${dies.way}-${dies.n}-${dies.when}`);
      const [messageId = "", answerId = ""] = messages;
      const task = taskIn(await insist(top, (wire) => wire.say("clean up", { messageId })));
      expect(stateOf(task)).toBe("input-required");
      expect(await effects()).toEqual(before);
      const done = taskIn(
        await insist(top, (wire) => wire.answer(task, approvalOf(task), { messageId: answerId })),
      );
      expect([done.id, stateOf(done)]).toEqual([task.id, "completed"]);
      await revived;
      expect(victim.starts).toBe(starts + 1);
      expect(await effects()).toEqual([...before, '{"path":"a"}']);
      // A message that was sent again was the same message: nobody began a second task.
      expect(await taskCounts()).toEqual(tasks.map((count) => count + 1));
    },
  );
});

// Last, since it leaves what only a person can settle.
test("killed inside the call at the bottom, every level says that a person has to settle it, and nothing runs again", {
  timeout: SLOW,
}, async () => {
  const before = await effects();
  const [top, , low] = levels;
  const wire = new Wire(top, { hitl: true });
  const task = taskIn(await wire.say("clean up"));
  await low.arm({ hangs: true });
  const running = new Promise<void>((resolve) => {
    low.child.onLine(({ type }) => (type === "deleted" ? resolve() : undefined));
  });
  const decided = wire.answer(task, approvalOf(task));
  await running;
  await low.kill();
  await low.again();
  // Each level passes on that nobody knows; the task waits for people at every one of them.
  const waiting = taskIn(await decided);
  expect(stateOf(waiting)).toBe("input-required");
  expect(waiting.status.message?.parts[0]?.text).toContain("A person must settle it");
  expect(await effects()).toEqual([...before, '{"path":"a"}']);
});
