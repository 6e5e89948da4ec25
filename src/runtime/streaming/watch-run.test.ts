import { describe, expect, test } from "vitest";
import { call, collect, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import { partsOf } from "../../engine/index.ts";
import { Agent, type Event, ParallelAgent, type StreamEvent, tool } from "../../index.ts";
import type { Model } from "../index.ts";

const resources = useResources();
const makeRunner = useRunners();
const said = { userId: "ana", sessionId: "s", message: "go" } as const;
const byAna = { by: { id: "ana" } } as const;

function textsOf(events: readonly Event[]): readonly (readonly [string, boolean])[] {
  return events.flatMap(({ content, partial = false }) =>
    (content?.parts ?? []).flatMap(({ text }) => (text === undefined ? [] : [[text, partial] as const])),
  );
}

describe("streaming", () => {
  test("text comes in pieces, in order, and then whole", async () => {
    const runner = makeRunner({ agent: new Agent({ name: "a", model: play("Hello Ana") }) });
    expect(textsOf(await collect(runner.run({ ...said, streaming: true })))).toEqual([
      ["Hello", true],
      [" Ana", true],
      ["Hello Ana", false],
    ]);
  });

  test("pieces are not stored", async () => {
    const runner = makeRunner({ agent: new Agent({ name: "a", model: play("Hello Ana") }) });
    await collect(runner.run({ ...said, streaming: true }));
    const session = await runner.sessionService.getSession({ userId: "ana", sessionId: "s" });
    expect(textsOf(session?.events ?? [])).toEqual([
      ["go", false],
      ["Hello Ana", false],
    ]);
  });

  test("not asked for, only whole texts come", async () => {
    const runner = makeRunner({ agent: new Agent({ name: "a", model: play("Hello Ana") }) });
    expect(textsOf(await collect(runner.run(said)))).toEqual([["Hello Ana", false]]);
  });

  test("around a tool, everything comes in the order in which it happened", async () => {
    const look = tool({ name: "look", description: "", execute: () => "seen" });
    const model = play([{ text: "I look." }, call("look", {}, "c1")], "I saw.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [look] }) });
    const events = await collect(runner.stream(said));
    expect(events.map((event) => (event.type === "content-delta" ? event.content : event.type))).toEqual([
      "I lo",
      "ok.",
      "tool-call",
      "tool-result",
      "I s",
      "aw.",
      "complete",
    ]);
    expect(events.at(-1)).toEqual({ type: "complete", content: "I look.\nI saw." });
  });

  test("of branches that speak at the same time, each text is sent once", async () => {
    const subAgents = ["left", "right"].map((name) => new Agent({ name, model: play(`I am ${name}`) }));
    const agent = new ParallelAgent({ name: "both", subAgents });
    const deltas = (await collect(makeRunner({ agent }).stream(said))).filter(
      (event): event is Extract<StreamEvent, { type: "content-delta" }> => event.type === "content-delta",
    );
    for (const name of ["left", "right"]) {
      const told = deltas.filter((event) => event.agent === name).map(({ content }) => content);
      expect(told.join("")).toBe(`I am ${name}`);
    }
  });

  test("a model that streams only its thoughts is still heard when it speaks", async () => {
    const model: Model = {
      name: "thinker",
      async *generate() {
        yield { parts: [{ text: "hm", thought: true }], partial: true };
        yield { parts: [{ text: "hm", thought: true }, { text: "Yes." }] };
      },
    };
    const events = await collect(makeRunner({ agent: new Agent({ name: "a", model }) }).stream(said));
    expect(events).toEqual([
      { type: "content-delta", content: "Yes.", agent: "a" },
      { type: "complete", content: "Yes." },
    ]);
  });

  test("a failure of the model is an event with its code, and the turn says so", async () => {
    const model = play(() => {
      throw new Error("out of words");
    });
    const runner = makeRunner({ agent: new Agent({ name: "a", model }) });
    expect(await collect(runner.stream(said))).toEqual([
      { type: "error", code: "model-failed", message: "out of words" },
      { type: "complete", content: "" },
    ]);
  });
});

describe("leaving the loop", () => {
  test("only detaches: the tool continues, and its result is there later", async () => {
    const end = Promise.withResolvers<void>();
    const dig = tool({
      name: "dig",
      description: "",
      execute: async () => {
        await end.promise;
        return { dug: true };
      },
    });
    const runner = makeRunner({
      agent: new Agent({ name: "a", model: play([call("dig")], "Dug."), tools: [dig] }),
    });
    for await (const event of runner.run(said)) {
      expect(event.content?.parts[0]?.functionCall?.name).toBe("dig");
      break;
    }
    end.resolve();
    await partsOf(await runner.engine()).executions.settledIn(await invocationOf(runner));
    const session = await runner.sessionService.getSession({ userId: "ana", sessionId: "s" });
    expect(session?.events.map(({ content }) => content?.parts[0])).toMatchObject([
      { text: "go" },
      { functionCall: { name: "dig" } },
      { functionResponse: { response: { dug: true } } },
      { text: "Dug." },
    ]);
  });

  test("a client that left finds the rest in the session", async () => {
    const ledger = `sqlite:${await resources.folder()}/left.db`;
    const pay = tool({
      name: "pay",
      description: "",
      requireConfirmation: true,
      execute: () => ({ paid: true }),
    });
    const agent = new Agent({ name: "a", model: play([call("pay", {}, "c1")], "Paid."), tools: [pay] });
    const runner = makeRunner({ agent, ledger });
    await runner.run(said).next();
    const [open] = await runner.pending();
    const { finished } = await runner.approve(String(open?.id), byAna);
    await finished;
    const other = makeRunner({ agent, ledger });
    const session = await other.sessionService.getSession({ userId: "ana", sessionId: "s" });
    expect(textsOf(session?.events ?? []).map(([text]) => text)).toEqual(["go", "Paid."]);
  });
});

test("a watcher of one run gets nothing of another in the same session", async () => {
  const started = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const dig = tool({
    name: "dig",
    description: "",
    execute: async (_args, ctx) => {
      started.resolve();
      await end.promise;
      ctx.progress("half");
      return "dug";
    },
  });
  const talked = Promise.withResolvers<void>();
  const model = play(
    [call("dig")],
    async () => {
      end.resolve();
      await talked.promise;
      return "Talk.";
    },
    "Dug.",
  );
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [dig] }) });
  const digging = collect(runner.stream(said));
  await started.promise;
  const talk = collect(runner.stream({ ...said, message: "hi" }));
  talked.resolve();
  expect((await talk).map(({ type }) => type)).toEqual(["content-delta", "content-delta", "complete"]);
  const types = (await digging).map(({ type }) => type);
  expect(types).toEqual([
    "tool-call",
    "tool-progress",
    "tool-result",
    "content-delta",
    "content-delta",
    "complete",
  ]);
});

test("a slow reader loses nothing", async () => {
  const model = play(
    [call("look", {}, "1")],
    [call("look", {}, "2")],
    [call("look", {}, "3")],
    "Seen thrice.",
  );
  const look = tool({ name: "look", description: "", execute: () => "seen" });
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [look] }) });
  const types: string[] = [];
  for await (const event of runner.stream(said)) {
    types.push(event.type);
    // The run goes on to its end while the first event is being looked at.
    if (types.length === 1)
      await partsOf(await runner.engine()).executions.settledIn(await invocationOf(runner));
  }
  expect(types.filter((type) => type === "tool-result")).toHaveLength(3);
  expect(types.slice(-3)).toEqual(["content-delta", "content-delta", "complete"]);
});

async function invocationOf(runner: ReturnType<typeof makeRunner>): Promise<string> {
  const session = await runner.sessionService.getSession({ userId: "ana", sessionId: "s" });
  return String(session?.events[0]?.invocationId);
}
