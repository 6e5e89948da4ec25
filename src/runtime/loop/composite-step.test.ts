import { describe, expect, test } from "vitest";
import {
  call,
  type Line,
  play,
  respond,
  type StrictModel,
  useRunners,
  wordsIn,
} from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import { Agent, type AgentOptions, LoopAgent, ParallelAgent, SequentialAgent, tool } from "../../index.ts";
import type { ModelRequest } from "../index.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function agentOf(
  name: string,
  lines: readonly Line[],
  options: Partial<AgentOptions> = {},
): Agent & { readonly model: StrictModel } {
  return new Agent({ name, model: play(...lines), ...options }) as never;
}

const pay = tool({
  name: "pay",
  description: "",
  requireConfirmation: true,
  execute: (args) => ({ paid: args }),
});

const exitLoop = tool({
  name: "exit_loop",
  description: "",
  execute: (_args, ctx) => {
    ctx.actions.escalate = true;
    ctx.actions.skipSummarization = true;
    return "out";
  },
});

function wordsOf(request: ModelRequest | undefined): readonly string[] {
  return request === undefined ? [] : wordsIn(request);
}

const stepsOf = (lines: readonly (readonly Line[])[]) =>
  new SequentialAgent({
    name: "steps",
    subAgents: lines.map((said, index) => agentOf(`s${index}`, said, { tools: [pay] })),
  });

describe("a sequence", () => {
  test("runs its agents one after the other; each sees what the earlier ones said", async () => {
    const two = agentOf("two", ["Second."]);
    const agent = new SequentialAgent({ name: "steps", subAgents: [agentOf("one", ["First."]), two] });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ text: "First.\nSecond." });
    expect(wordsOf(two.model.requests[0])).toEqual(["go", "For context:", "[one] said: First."]);
  });

  test("hands state on by outputKey", async () => {
    const one = agentOf("one", ["blue"], { outputKey: "colour" });
    const two = agentOf("two", ["Painted."], { instruction: "Paint it {colour}." });
    await makeRunner({ agent: new SequentialAgent({ name: "steps", subAgents: [one, two] }) }).send(
      "go",
      ana,
    );
    expect(two.model.requests[0]?.instruction).toBe("Paint it blue.");
  });

  test("pauses in any place and continues there in another process", async () => {
    const ledger = `sqlite:${await resources.folder()}/steps.db`;
    const first = makeRunner({ ledger, agent: stepsOf([["One."], [[call("pay")]], []]) });
    const turn = await first.send("go", ana);
    expect(turn).toMatchObject({ status: "paused", text: "One." });
    expect(turn.pending[0]?.path).toEqual(["steps", "s1"]);
    await first.close();
    const second = makeRunner({ ledger, agent: stepsOf([[], ["Two."], ["Three."]]) });
    const { finished } = await second.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "Two.\nThree." });
  });

  test("ends with the first agent that fails", async () => {
    const last = agentOf("last", ["Never said."]);
    const agent = new SequentialAgent({
      name: "steps",
      subAgents: [agentOf("one", ["One."]), agentOf("two", []), last],
    });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({
      status: "failed",
      error: { code: "model-failed" },
    });
    expect(last.model.requests).toEqual([]);
  });

  test("of nobody is over at once", async () => {
    const agent = new SequentialAgent({ name: "steps", subAgents: [] });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ status: "completed", text: "" });
  });
});

const tree = (left: readonly Line[], right: readonly Line[], last: readonly Line[]) =>
  new SequentialAgent({
    name: "steps",
    subAgents: [
      new ParallelAgent({
        name: "both",
        subAgents: [agentOf("left", left, { tools: [pay] }), agentOf("right", right)],
      }),
      agentOf("last", last),
    ],
  });

describe("a parallel group", () => {
  test("runs its agents at the same time, in branches that do not see each other", async () => {
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const speaker = (own: 0 | 1, other: 0 | 1) =>
      agentOf(`s${own}`, [
        async () => {
          both[own].resolve();
          await both[other].promise;
          return `I am ${own}.`;
        },
      ]);
    const [left, right] = [speaker(0, 1), speaker(1, 0)];
    const turn = await makeRunner({
      agent: new ParallelAgent({ name: "both", subAgents: [left, right] }),
    }).send("go", ana);
    expect(turn.text.split("\n").toSorted()).toEqual(["I am 0.", "I am 1."]);
    expect(wordsOf(left.model.requests[0])).toEqual(["go"]);
    expect(turn.events.map(({ branch = "" }) => branch).toSorted()).toEqual(["both.s0", "both.s1"]);
  });

  test("what comes after the group sees all of it", async () => {
    const group = new ParallelAgent({
      name: "both",
      subAgents: [agentOf("left", ["L."]), agentOf("right", ["R."])],
    });
    const last = agentOf("last", ["I heard both."]);
    await makeRunner({ agent: new SequentialAgent({ name: "steps", subAgents: [group, last] }) }).send(
      "go",
      ana,
    );
    expect(
      wordsOf(last.model.requests[0])
        .filter((words) => words.startsWith("["))
        .toSorted(),
    ).toEqual(["[left] said: L.", "[right] said: R."]);
  });

  test("pauses in one branch while the other finishes, and continues in another process", async () => {
    const ledger = `sqlite:${await resources.folder()}/group.db`;
    const first = makeRunner({ ledger, agent: tree([[call("pay")]], ["R."], []) });
    const turn = await first.send("go", ana);
    expect(turn).toMatchObject({ status: "paused", text: "R." });
    await first.close();
    const second = makeRunner({ ledger, agent: tree(["L."], [], ["Both."]) });
    const { finished } = await second.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "L.\nBoth." });
  });

  test("models that give the same call ids at the same moment do not get in each other's way", async () => {
    const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const worker = (own: 0 | 1, other: 0 | 1) =>
      agentOf(
        `w${own}`,
        [
          async () => {
            started[own].resolve();
            await started[other].promise;
            return [call("pay", { own }, "call_1")];
          },
          `Paid ${own}.`,
        ],
        { tools: [pay] },
      );
    const agent = new ParallelAgent({ name: "both", subAgents: [worker(0, 1), worker(1, 0)] });
    const runner = makeRunner({ agent });
    const turn = await runner.send("go", ana);
    expect(turn.pending.map(({ args }) => JSON.stringify(args["own"])).toSorted()).toEqual(["0", "1"]);
    const [, last] = await runner.decide(
      turn.pending.map(({ id }) => ({ id, confirmed: true })),
      byAna,
    );
    if (last === undefined || !("finished" in last)) throw new Error("It was refused.");
    expect((await last.finished).status).toBe("completed");
  });

  test("fails if one of its agents does, when all are done", async () => {
    const agent = new ParallelAgent({
      name: "both",
      subAgents: [agentOf("left", []), agentOf("right", ["R."])],
    });
    const after = agentOf("after", ["Never said."]);
    const steps = new SequentialAgent({ name: "steps", subAgents: [agent, after] });
    expect(await makeRunner({ agent: steps }).send("go", ana)).toMatchObject({
      status: "failed",
      text: "R.",
    });
  });
});

const loopOf = (lines: readonly Line[]) =>
  new LoopAgent({ name: "loop", subAgents: [agentOf("w", lines, { tools: [pay] })], maxIterations: 3 });

describe("a loop", () => {
  test("goes round as often as it may", async () => {
    let rounds = 0;
    const worker = new Agent({ name: "w", model: respond(() => `Round ${++rounds}.`) });
    const agent = new LoopAgent({ name: "loop", subAgents: [worker], maxIterations: 3 });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({
      text: "Round 1.\nRound 2.\nRound 3.",
    });
  });

  test("ends when one of its agents escalates; those after it in the round are skipped", async () => {
    const critic = agentOf("critic", ["Not yet.", [call("exit_loop")]], { tools: [exitLoop] });
    const writer = agentOf("writer", ["Draft 2."]);
    const loop = new LoopAgent({ name: "loop", subAgents: [critic, writer], maxIterations: 9 });
    const agent = new SequentialAgent({ name: "steps", subAgents: [loop, agentOf("last", ["Published."])] });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({
      text: "Not yet.\nDraft 2.\nPublished.",
    });
  });

  test("ends when an agent escalates in a sequence inside it", async () => {
    const critic = agentOf("critic", [[call("exit_loop")]], { tools: [exitLoop] });
    const round = new SequentialAgent({
      name: "round",
      subAgents: [critic, agentOf("writer", ["Last draft."])],
    });
    const agent = new LoopAgent({ name: "loop", subAgents: [round], maxIterations: 9 });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ text: "Last draft." });
  });

  test("ends only the innermost loop around the agent that escalates", async () => {
    const inner = new LoopAgent({
      name: "inner",
      subAgents: [agentOf("critic", [[call("exit_loop")], [call("exit_loop")]], { tools: [exitLoop] })],
      maxIterations: 9,
    });
    const agent = new LoopAgent({
      name: "outer",
      subAgents: [inner, agentOf("w", ["One.", "Two."])],
      maxIterations: 2,
    });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ text: "One.\nTwo." });
  });

  test("pauses in any round and continues there in another process", async () => {
    const ledger = `sqlite:${await resources.folder()}/loop.db`;
    const first = makeRunner({ ledger, agent: loopOf(["Round 1.", [call("pay", { round: 2 })]]) });
    const turn = await first.send("go", ana);
    await first.close();
    const second = makeRunner({ ledger, agent: loopOf(["Round 2.", "Round 3."]) });
    const { finished } = await second.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "Round 2.\nRound 3." });
  });
});

describe("hooks of an agent that arranges others", () => {
  test("before it, a value takes the place of all of them", async () => {
    const one = agentOf("one", ["First."]);
    const agent = new SequentialAgent({
      name: "steps",
      subAgents: [one],
      beforeAgent: ({ ctx }) => ({ role: "model", parts: [{ text: `Not today, ${ctx.userId}.` }] }),
    });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ text: "Not today, ana." });
    expect(one.model.requests).toEqual([]);
  });

  test("after it, a value is its last word; each runs once, whatever pauses in between", async () => {
    const fired: string[] = [];
    const agent = new SequentialAgent({
      name: "steps",
      subAgents: [agentOf("one", [[call("pay")], "Paid."], { tools: [pay] })],
      beforeAgent: ({ ctx }) => {
        fired.push("before");
        ctx.state.set("begun", true);
      },
      afterAgent: () => {
        fired.push("after");
        return { role: "model", parts: [{ text: "All done." }] };
      },
    });
    const runner = makeRunner({ agent });
    const paused = await runner.send("go", ana);
    const done = await (await runner.approve(String(paused.pending[0]?.id), byAna)).finished;
    expect(done.text).toContain("All done.");
    expect(fired).toEqual(["before", "after"]);
    expect(await runner.sessionService.getSession({ userId: "ana", sessionId: done.session })).toMatchObject({
      state: { begun: true },
    });
  });
});

test("a loop that names no number of rounds ends with the Runner's limit on model calls", async () => {
  let rounds = 0;
  const again = new Agent({
    name: "again",
    model: play(...Array.from({ length: 10 }, () => "Again.")),
    beforeAgent: () => {
      rounds += 1;
    },
  });
  const agent = new LoopAgent({ name: "loop", subAgents: [again] });
  expect(await makeRunner({ agent, maxModelCalls: 3 }).send("go", ana)).toMatchObject({
    status: "completed",
  });
  expect(rounds).toBe(3);
});
