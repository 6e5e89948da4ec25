import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Child } from "../support/child.ts";
import { useResources } from "../support/resources.ts";
import { approvalOf, askedIn, payloadOf, type RpcAnswer, stateOf, taskIn, Wire } from "./a2a-desk.ts";
import type { LevelLine, LevelOptions, Moment } from "./remote-server.program.ts";

const resources = useResources();
const PROGRAM = new URL("./remote-server.program.ts", import.meta.url);
const SLOW = 120_000;

/** One process of the chain, which can be started again where it was. */
class Level {
  readonly #options: LevelOptions;
  #child: Child<LevelLine>;
  url = "";
  /** How often it was started. */
  starts = 0;
  #port = 0;

  constructor(options: LevelOptions) {
    this.#options = options;
    this.#child = this.#spawn(options);
  }

  get ended(): Promise<unknown> {
    return this.#child.ended;
  }

  get child(): Child<LevelLine> {
    return this.#child;
  }

  async ready(): Promise<this> {
    const { url, port } = await this.#child.line("listening");
    this.url = url;
    this.#port = port;
    return this;
  }

  /** Starts it again on its database and port, this time to stay. */
  async again(): Promise<void> {
    const { file, effects, below } = this.#options;
    const rest = below === undefined ? {} : { below };
    this.#child = this.#spawn({ file, effects, port: this.#port, ...rest });
    await this.ready();
  }

  #spawn(options: LevelOptions): Child<LevelLine> {
    this.starts += 1;
    return resources.child<LevelLine>(PROGRAM, { args: [JSON.stringify(options)] });
  }
}

interface Chain {
  readonly levels: readonly [Level, Level, Level];
  readonly effects: () => Promise<readonly string[]>;
}

type Extra = Partial<Pick<LevelOptions, "dies" | "hangs">>;

/** Three levels, the first on top; one of them may have to die. */
async function openChain(extra: Readonly<Record<number, Extra>> = {}): Promise<Chain> {
  const folder = await resources.folder();
  const effects = join(folder, "effects");
  const open = async (level: number, below?: string): Promise<Level> =>
    new Level({
      file: join(folder, `${level}.db`),
      effects,
      port: 0,
      ...(below === undefined ? {} : { below }),
      ...extra[level],
    }).ready();
  const low = await open(2);
  const middle = await open(1, low.url);
  const top = await open(0, middle.url);
  return {
    levels: [top, middle, low],
    effects: async () =>
      (await readFile(effects, "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
  };
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
  const { levels, effects } = await openChain();
  const wire = new Wire(levels[0], { hitl: true });
  const task = taskIn(await wire.say("clean up"));
  expect(stateOf(task)).toBe("input-required");
  const tools = [{ id: askedIn(task)[0], name: "delete_file", args: { path: "a" } }];
  expect(payloadOf(task)).toMatchObject({ tools, nested: { subagent_name: "desk", tools } });
  expect(await effects()).toEqual([]);
  const done = taskIn(await wire.answer(task, approvalOf(task)));
  expect([done.id, stateOf(done)]).toEqual([task.id, "completed"]);
  expect(await effects()).toEqual(['{"path":"a"}']);
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

test("killed inside the call at the bottom, every level says that a person has to settle it, and nothing runs again", {
  timeout: SLOW,
}, async () => {
  const { levels, effects } = await openChain({ 2: { hangs: true } });
  const [top, , low] = levels;
  const wire = new Wire(top, { hitl: true });
  const task = taskIn(await wire.say("clean up"));
  const decided = wire.answer(task, approvalOf(task));
  await low.child.line("deleted");
  await low.child.kill();
  await low.again();
  // Each level passes on that nobody knows; the task waits for people at every one of them.
  const waiting = taskIn(await decided);
  expect(stateOf(waiting)).toBe("input-required");
  expect(waiting.status.message?.parts[0]?.text).toContain("A person has to settle it");
  expect(await effects()).toEqual(['{"path":"a"}']);
});

describe("killed between two messages", () => {
  test.each(MOMENTS)(
    "level %i at %o: nothing is lost and nothing runs twice",
    { timeout: SLOW },
    async (level, dies) => {
      const { levels, effects } = await openChain({ [level]: { dies } });
      const [top] = levels;
      const victim = levels[level] ?? top;
      // The top is brought back by whoever talks to it.
      const revived = level === 0 ? undefined : victim.ended.then(() => victim.again());
      const task = taskIn(await insist(top, (wire) => wire.say("clean up", { messageId: "m-1" })));
      expect(stateOf(task)).toBe("input-required");
      expect(await effects()).toEqual([]);
      const done = taskIn(
        await insist(top, (wire) => wire.answer(task, approvalOf(task), { messageId: "m-2" })),
      );
      expect([done.id, stateOf(done)]).toEqual([task.id, "completed"]);
      await revived;
      expect(victim.starts).toBe(2);
      expect(await effects()).toEqual(['{"path":"a"}']);
      // A message that was sent again was the same message: nobody began a second task.
      for (const one of levels) {
        const { result } = await new Wire(one).call("ListTasks", {});
        expect((result as { readonly tasks: readonly unknown[] }).tasks).toHaveLength(1);
      }
    },
  );
});
