import { describe, expect, test } from "vitest";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { Agent, tool } from "../../index.ts";
import type { Instruction } from "../../runtime.ts";
import { State } from "./state.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

describe("state", () => {
  test("shows what was there with what was set, and gives back only what was set", () => {
    const state = new State({ a: 1, b: 2 });
    state.set("b", 3);
    expect([state.get("a"), state.get("b"), state.has("a"), state.has("c"), state.get("toString")]).toEqual([
      1,
      3,
      true,
      false,
      undefined,
    ]);
    expect(state.toObject()).toEqual({ a: 1, b: 3 });
    expect(state.delta()).toEqual({ b: 3 });
  });

  const remember = tool({
    name: "remember",
    description: "",
    execute: (_args, ctx) => {
      for (const scope of ["", "user:", "app:", "temp:"]) ctx.state.set(`${scope}seen`, ctx.sessionId);
      return "noted";
    },
  });

  test("lives in its scope: the session, the user, the app, and `temp:` nowhere", async () => {
    const model = play([call("remember")], "Noted.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [remember] }) });
    const turn = await runner.send("go", { ...ana, session: "s1" });
    const service = runner.sessionService;
    const states = await Promise.all(
      [
        { userId: "ana", sessionId: "s2" },
        { userId: "bo", sessionId: "s3" },
      ].map((named) => service.createSession(named)),
    );
    expect((await service.getSession({ userId: "ana", sessionId: "s1" }))?.state).toEqual({
      seen: "s1",
      "user:seen": "s1",
      "app:seen": "s1",
    });
    expect(states.map(({ state }) => state)).toEqual([
      { "user:seen": "s1", "app:seen": "s1" },
      { "app:seen": "s1" },
    ]);
    expect(JSON.stringify(turn.events)).not.toContain("temp:");
  });

  test("that a hook sets is committed with the step, and `temp:` is not told", async () => {
    const agent = new Agent({
      name: "a",
      model: play("Hi."),
      beforeAgent: ({ ctx }) => {
        ctx.state.set("visits", 1);
        ctx.state.set("temp:scratch", 2);
      },
    });
    const runner = makeRunner({ agent });
    const turn = await runner.send("hi", { ...ana, session: "s" });
    expect((await runner.sessionService.getSession({ userId: "ana", sessionId: "s" }))?.state).toEqual({
      visits: 1,
    });
    expect(turn.events.map(({ actions }) => actions?.stateDelta)).toEqual([{ visits: 1 }]);
  });

  test("that a tool sets is committed with its result: if it fails, it never happened", async () => {
    const fails = tool({
      name: "fails",
      description: "",
      execute: (_args, ctx) => {
        ctx.state.set("half", true);
        throw new Error("half way");
      },
    });
    const runner = makeRunner({
      agent: new Agent({ name: "a", model: play([call("fails")], "Oh."), tools: [fails] }),
    });
    await runner.send("go", { ...ana, session: "s" });
    expect((await runner.sessionService.getSession({ userId: "ana", sessionId: "s" }))?.state).toEqual({});
  });

  test("comes along with a message", async () => {
    const runner = makeRunner({
      agent: new Agent({ name: "a", model: play("Hi."), instruction: "Greet {name}." }),
    });
    await runner.send("hi", { ...ana, session: "s", stateDelta: { name: "Ana" } });
    expect((await runner.sessionService.getSession({ userId: "ana", sessionId: "s" }))?.state).toEqual({
      name: "Ana",
    });
  });

  test("outputKey keeps the agent's last words", async () => {
    const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute: () => "paid" });
    const model = play([{ text: "Wait." }, call("pay")], "Paid.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay], outputKey: "said" }) });
    const turn = await runner.send("pay", { ...ana, session: "s" });
    const session = () => runner.sessionService.getSession({ userId: "ana", sessionId: "s" });
    expect((await session())?.state).toEqual({});
    await (await runner.approve(String(turn.pending[0]?.id), byAna)).finished;
    expect((await session())?.state).toEqual({ said: "Paid." });
  });
});

test("a key that no ledger could hold fails the call that sets it, and nothing of it is kept", async () => {
  const hoard = tool({
    name: "hoard",
    description: "",
    execute: (_args, ctx) => {
      ctx.state.set("k".repeat(1_000), 1);
      return "kept";
    },
  });
  const model = play([call("hoard", {}, "c1")], "Done.");
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [hoard] }) });
  const turn = await runner.send("go", { ...ana, session: "s1" });
  const responses = turn.events.flatMap(({ content }) =>
    (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.response ?? []),
  );
  expect(JSON.stringify(responses)).toContain("is longer than 768 bytes");
  expect(await runner.sessionService.getSession({ userId: "ana", sessionId: "s1" })).toMatchObject({
    state: {},
  });
});

test.each<[string, Instruction, string | undefined]>([
  ["names state", "You serve {user:name} in {city}.", 'You serve Ana in {"name":"Rome"}.'],
  ["names what is not there", "You serve {nobody}.", "You serve {nobody}."],
  ["names what need not be there", "You serve{nobody?}.", "You serve."],
  ["holds other braces", "Answer as {1: 2} or { city }.", "Answer as {1: 2} or { city }."],
  [
    "is a function",
    ({ state, userId }) => `${userId} in ${JSON.stringify(state.get("city"))}`,
    'ana in {"name":"Rome"}',
  ],
  ["is empty", "", undefined],
])("an instruction that %s", async (_, instruction, expected) => {
  const model = play("Hi.");
  const runner = makeRunner({ agent: new Agent({ name: "a", model, instruction }) });
  await runner.send("hi", { ...ana, stateDelta: { "user:name": "Ana", city: { name: "Rome" } } });
  expect(model.requests[0]?.instruction).toBe(expected);
});
