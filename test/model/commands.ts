import fc from "fast-check";
import { expect } from "vitest";
import {
  type Answer,
  type End,
  HEARTBEAT_MS,
  LEASE_MS,
  type Model,
  type ModelCall,
  type ToolName,
} from "./model.ts";
import { PERSON, type World } from "./world.ts";

type Command = fc.AsyncCommand<Model, World>;

/** A command that is told to both, and after which both must say the same. */
function command(
  text: string,
  applies: (model: Model) => boolean,
  run: (model: Model, world: World) => Promise<void>,
): Command {
  return {
    check: applies,
    run: async (model, world) => {
      await run(model, world);
      await world.settle();
      await expectSame(model, world);
    },
    toString: () => text,
  };
}

/** Is what the ledger says of every call what the model says, and was no body entered that should not be? */
async function expectSame(model: Model, world: World): Promise<void> {
  for (const call of model.calls) {
    const stored = await world.callOf(call.tool, call.key);
    const session = await world.sessionOf(call.tool, call.key);
    const questions = await world.questionsOf(call.tool, call.key);
    const entered = world.entered.filter((entry) => entry.call === stored.id).map(({ attempt }) => attempt);
    expect(
      {
        status: stored.status,
        attempt: stored.attempt,
        questions: questions.map(({ status }) => status),
        open: session?.open,
        deleted: session?.deletedAt !== undefined,
        entered,
      },
      call.key,
    ).toEqual({
      status: call.status,
      attempt: call.attempt,
      questions: call.confirmations.map(({ status }) => status),
      open: model.openIn(call),
      deleted: call.deleted,
      entered: call.entered,
    });
    expect(new Set(entered).size, `${call.key}: each attempt is entered once`).toBe(entered.length);
    if (call.tool !== "again")
      expect(entered.length, `${call.key}: no more than permitted`).toBeLessThanOrEqual(call.permits);
    if (call.permits === 0) expect(entered, `${call.key}: not without an approval`).toEqual([]);
  }
}

function expectAnswer(answer: Answer | readonly Answer[], expected: Answer | readonly Answer[]): void {
  expect(answer).toEqual(expected);
}

function answerOf(result: {
  readonly ok: boolean;
  readonly code?: string;
  readonly repeated?: boolean;
}): Answer {
  if (!result.ok) return result.code ?? "";
  return result.repeated === true ? "repeated" : "ok";
}

function pick<T>(list: readonly T[], at: number): T {
  const item = list[at % list.length];
  if (item === undefined) throw new Error("Nothing to pick from.");
  return item;
}

const hasCalls = (model: Model): boolean => model.calls.length > 0;
/** Mostly those whose question is open; now and then any. */
function asked(model: Model, at = 0): readonly ModelCall[] {
  const open = model.calls.filter(({ confirmations }) => confirmations.at(-1)?.status === "requested");
  if (open.length > 0 && at % 4 !== 0) return open;
  return model.calls.filter(({ confirmations }) => confirmations.length > 0);
}

/** Mostly the question that counts; now and then an older one. */
function roundOf(call: ModelCall, back: number): number {
  return Math.max(0, call.confirmations.length - 1 - back);
}

const place = fc.nat({ max: 1_000 });
const back = fc.constantFrom(0, 0, 0, 1);

const TOOLS: readonly ToolName[] = ["once", "again", "free", "once"];

/** Opens a call in both. */
export async function openOnBoth(model: Model, world: World, tool: ToolName): Promise<void> {
  const key = `k${model.calls.length}`;
  world.use(tool, key);
  await world.settle();
  model.open(key, tool);
}

const open = fc.constantFrom(...TOOLS).map((tool) =>
  command(
    `open ${tool}`,
    ({ calls }) => calls.length < 8,
    (model, world) => openOnBoth(model, world, tool),
  ),
);

const decide = fc
  .tuple(place, back, fc.constantFrom(true, true, true, false), fc.boolean())
  .map(([at, older, confirmed, hosted]) =>
    command(
      `${confirmed ? "approve" : "deny"} ${at}${older === 0 ? "" : " (an older question)"} ${hosted ? "here" : "elsewhere"}`,
      (model) => asked(model).length > 0,
      async (model, world) => {
        const call = pick(asked(model, at), at);
        const round = roundOf(call, older);
        const { id = "" } = (await world.questionsOf(call.tool, call.key))[round] ?? {};
        const engine = hosted ? world.engine : world.decider;
        const answer = answerOf(await engine.decisions.decide({ id, confirmed }, PERSON));
        expectAnswer(answer, model.decide(call, round, { confirmed, hosted }));
      },
    ),
  );

/** Approve and deny at the same moment, through two processes: one wins, and both are told the same. */
const race = fc.tuple(place, fc.boolean()).map(([at, approveFirst]) =>
  command(
    `approve and deny ${at} at once, ${approveFirst ? "approval" : "denial"} first`,
    (model) => model.calls.some((call) => call.confirmations.at(-1)?.status === "requested"),
    async (model, world) => {
      const call = pick(asked(model, 1), at);
      const round = call.confirmations.length - 1;
      const { id = "" } = (await world.questionsOf(call.tool, call.key))[round] ?? {};
      const verdicts = approveFirst ? [true, false] : [false, true];
      const answers = await Promise.all(
        verdicts.map(async (confirmed) =>
          answerOf(await world.engine.decisions.decide({ id, confirmed }, PERSON)),
        ),
      );
      const won = verdicts[answers.indexOf("ok")] ?? true;
      const expected = verdicts.map(() => "");
      expected[verdicts.indexOf(won)] = model.decide(call, round, { confirmed: won, hosted: true });
      expected[verdicts.indexOf(!won)] = model.decide(call, round, { confirmed: !won, hosted: true });
      expectAnswer(answers, expected);
    },
  ),
);

const cancel = fc.tuple(place, back).map(([at, older]) =>
  command(
    `cancel ${at}${older === 0 ? "" : " (an older question)"}`,
    (model) => asked(model).length > 0,
    async (model, world) => {
      const call = pick(asked(model, at), at);
      const round = roundOf(call, older);
      const { id = "" } = (await world.questionsOf(call.tool, call.key))[round] ?? {};
      const answer = answerOf(await world.engine.decisions.cancel(id, { ...PERSON, reason: "not needed" }));
      expectAnswer(answer, model.cancel(call, round));
    },
  ),
);

const finish = fc
  .tuple(place, fc.constantFrom<End>("succeed", "fail", "unknown", "ask", "ask", "ask"))
  .map(([at, end]) =>
    command(
      `body ${at} ends: ${end}`,
      ({ bodies }) => bodies.length > 0,
      async (model, world) => {
        const late = model.bodies.filter(({ call }) => call.status === "unknown");
        const body = pick(late.length > 0 ? late : model.bodies, at);
        const { id } = await world.callOf(body.call.tool, body.call.key);
        world.finish(id, body.attempt, end);
        model.finish(body, end);
      },
    ),
  );

const settle = fc
  .tuple(place, fc.constantFrom("succeeded", "failed", "retry"), fc.boolean())
  .map(([at, as, hosted]) =>
    command(`settle ${at} as ${as} ${hosted ? "here" : "elsewhere"}`, hasCalls, async (model, world) => {
      const unknown = model.calls.filter(({ status }) => status === "unknown");
      const call = pick(unknown.length > 0 && at % 8 !== 0 ? unknown : model.calls, at);
      const { id } = await world.callOf(call.tool, call.key);
      const settlement =
        as === "succeeded"
          ? ({ as: "succeeded", result: null } as const)
          : as === "failed"
            ? ({ as: "failed", error: "given up" } as const)
            : ({ as: "retry" } as const);
      const engine = hosted ? world.engine : world.decider;
      const answer = answerOf(await engine.decisions.settle({ call: id }, settlement, PERSON));
      expectAnswer(answer, model.settle(call, settlement.as, hosted));
    }),
  );

const fall = fc.constantFrom<"crash" | "stop">("crash", "stop").map((how) =>
  command(
    how,
    () => true,
    async (model, world) => {
      world[how]();
      model.fall(how);
    },
  ),
);

const advance = fc.constantFrom(1_000, 20_000, 60_000, 60_000).map((ms) =>
  command(
    `${ms} ms pass`,
    () => true,
    (model, world) => passOnBoth(model, world, ms),
  ),
);

async function workOnBoth(model: Model, world: World): Promise<void> {
  if (model.isAmbiguous) await passOnBoth(model, world, HEARTBEAT_MS);
  // It resolves when what it started has ended, and that is for other commands to say.
  world.engine.work({ once: true }).catch(() => {});
  await world.settle();
  model.work();
}

async function passOnBoth(model: Model, world: World, ms: number): Promise<void> {
  await world.clock.advance(ms);
  model.now += ms;
  await world.settle();
}

const work = fc.constant(command("a round of work", () => true, workOnBoth));

/** The whole story of a lost process, which single commands tell too seldom. */
const lose = fc.constantFrom<"crash" | "stop">("crash", "stop").map((how) =>
  command(
    `${how}, and its lease runs out`,
    ({ bodies, current }) => bodies.some(({ process }) => process === current),
    async (model, world) => {
      world[how]();
      model.fall(how);
      await passOnBoth(model, world, LEASE_MS);
      await workOnBoth(model, world);
    },
  ),
);

const remove = place.map((at) =>
  command(`delete the session of ${at}`, hasCalls, async (model, world) => {
    const call = pick(model.calls, at);
    const name = { app: `gate:${call.tool}`, user: "gate", id: call.key };
    const answer = answerOf(await world.engine.deleteSession(name, PERSON.by));
    expectAnswer(answer, model.delete(call));
  }),
);

/** What is likely in life is likely here, by being named more than once. */
export const anyCommands: readonly fc.Arbitrary<Command>[] = [
  open,
  decide,
  decide,
  decide,
  race,
  cancel,
  finish,
  finish,
  finish,
  settle,
  settle,
  fall,
  lose,
  lose,
  advance,
  work,
  work,
  remove,
];
