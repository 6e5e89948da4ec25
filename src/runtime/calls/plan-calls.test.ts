import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  call,
  type Line,
  play,
  resultsIn,
  type StrictModel,
  useRunners,
} from "../../../test/seeds/scripted-runner.ts";
import { Agent, type Hooks, type JsonObject, type RunnerOptions, type Tool, tool } from "../../index.ts";
import type { Part } from "../../protocol/index.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

const echo = tool({
  name: "echo",
  description: "Says it back.",
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => ({ said: text }),
});

/** What the model is told of the calls that it makes first. */
async function answersTo(
  calls: readonly Part[],
  tools: readonly Tool[],
  hooks: Hooks = {},
): Promise<readonly JsonObject[]> {
  const model = play(calls, "Done.");
  await makeRunner({ agent: new Agent({ name: "a", model, tools, ...hooks }) }).send("go", ana);
  return model.requests.slice(1).flatMap(resultsIn);
}

describe("a mistake by the model goes back to it as an answer that it can act on", () => {
  test.each<[string, Part, JsonObject]>([
    [
      "a tool that does not exist",
      call("ehco", { text: "hi" }),
      { error: 'there is no tool "ehco"; available: echo', code: "unknown-tool" },
    ],
    [
      "an argument of the wrong type",
      call("echo", { text: 5 }),
      { code: "arguments-mismatch", field: "text" },
    ],
    ["a missing argument", call("echo"), { code: "arguments-mismatch", field: "text" }],
    [
      "a reserved name",
      call("adk_request_confirmation", { confirmed: true }),
      { error: '"adk_request_confirmation" is reserved and cannot be called', code: "reserved-name" },
    ],
  ])("%s", async (_, mistake, answer) => {
    expect(await answersTo([mistake], [echo])).toMatchObject([answer]);
  });

  test("a schema whose own code throws", async () => {
    const broken = tool({
      name: "echo",
      description: "",
      parameters: z.object({
        text: z.string().refine(() => {
          throw new Error("the list of words is not there");
        }),
      }),
      execute: () => "never",
    });
    expect(await answersTo([call("echo", { text: "hi" })], [broken])).toMatchObject([
      {
        code: "arguments-mismatch",
        error: "invalid arguments: the list of words is not there",
      },
    ]);
  });

  test("beside a sound call, which runs all the same", async () => {
    const answers = await answersTo([call("nope"), call("echo", { text: "hi" })], [echo]);
    expect(answers).toMatchObject([{ code: "unknown-tool" }, { said: "hi" }]);
  });

  test("a call without arguments has none", async () => {
    const bare = tool({ name: "bare", description: "", execute: (args) => ({ args }) });
    const part = { functionCall: { name: "bare" } } as unknown as Part;
    expect(await answersTo([part], [bare])).toEqual([{ args: {} }]);
  });

  test.each(["a\0b", "x".repeat(129), "adk-1"])(
    "the call id %j, which cannot be one, is replaced",
    async (id) => {
      const model = play([call("echo", { text: "1" }, id)], "Done.");
      const turn = await makeRunner({ agent: new Agent({ name: "a", model, tools: [echo] }) }).send(
        "go",
        ana,
      );
      const [asked] = turn.events.flatMap(({ content }) => content?.parts ?? []);
      expect(asked?.functionCall?.id).toMatch(/^adk-[0-9a-z]{26}$/);
    },
  );

  test("call ids that it omits or repeats are replaced by ours", async () => {
    const model = play(
      [call("echo", { text: "1" }, "x"), call("echo", { text: "2" }, "x"), call("echo", { text: "3" })],
      [call("echo", { text: "4" }, "x")],
      "Done.",
    );
    const turn = await makeRunner({ agent: new Agent({ name: "a", model, tools: [echo] }) }).send("go", ana);
    const ids = turn.events
      .flatMap(({ content }) => content?.parts ?? [])
      .flatMap(({ functionCall }) => functionCall?.id ?? []);
    expect(ids[0]).toBe("x");
    expect(new Set(ids).size).toBe(4);
    expect(ids.slice(1).every((id) => id.startsWith("adk-"))).toBe(true);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { said: "1" },
      { said: "2" },
      { said: "3" },
      { said: "4" },
    ]);
  });
});

async function shownAndRun(
  pay: (ran: unknown[]) => Tool,
  args: JsonObject,
  options: Partial<RunnerOptions> = {},
): Promise<{ readonly shown: unknown; readonly ran: unknown[] }> {
  const ran: unknown[] = [];
  const agent = new Agent({ name: "a", model: play([call("pay", args)], "Done."), tools: [pay(ran)] });
  const runner = makeRunner({ ...options, agent });
  const turn = await runner.send("pay", ana);
  const [card] = turn.pending;
  await (await runner.approve(String(card?.id), byAna)).finished;
  return { shown: card?.args, ran };
}

const gated = (parameters: z.ZodType<object>) => (ran: unknown[]) =>
  tool({
    name: "pay",
    description: "",
    parameters,
    requireConfirmation: true,
    execute: (args) => void ran.push(args),
  });

test("a tool under a reserved name cannot be made", () => {
  expect(() => tool({ name: "adk_request_confirmation", description: "", execute: () => null })).toThrow(
    expect.objectContaining({ code: "reserved-name" }),
  );
});

describe("what is shown is what runs", () => {
  test.each<[string, z.ZodType<object>, JsonObject, JsonObject]>([
    ["coercions", z.object({ amount: z.coerce.number() }), { amount: "12" }, { amount: 12 }],
    ["defaults", z.object({ currency: z.string().default("EUR") }), {}, { currency: "EUR" }],
    [
      "transforms",
      z.object({ to: z.string().transform((to) => to.trim().toLowerCase()) }),
      { to: " ANA " },
      { to: "ana" },
    ],
    [
      "members that the schema does not know",
      z.object({ amount: z.number() }),
      { amount: 1, more: 2 },
      { amount: 1 },
    ],
  ])("%s are applied once, before anybody looks", async (_, schema, given, expected) => {
    expect(await shownAndRun(gated(schema), given)).toEqual({ shown: expected, ran: [expected] });
  });

  test("a default that differs from time to time is drawn once", async () => {
    let drawn = 0;
    const schema = z.object({ reference: z.number().default(() => ++drawn) });
    const { shown, ran } = await shownAndRun(gated(schema), {});
    expect(ran).toEqual([shown]);
  });

  test("what parses to something that is not JSON is shown as it came, and parsed when it runs", async () => {
    const schema = z.object({ at: z.string().transform((text) => new Date(text)) });
    const { shown, ran } = await shownAndRun(gated(schema), { at: "2026-01-01" });
    expect(shown).toEqual({ at: "2026-01-01" });
    expect(ran).toEqual([{ at: new Date("2026-01-01") }]);
  });

  test("arguments that a hook rewrote are what is shown, judged and run", async () => {
    const judged: unknown[] = [];
    const capped = (ran: unknown[]) =>
      tool({
        name: "pay",
        description: "",
        parameters: z.object({ amount: z.number() }),
        requireConfirmation: (args) => judged.push(args) > 0,
        execute: (args) => void ran.push(args),
      });
    let hooks = 0;
    const { shown, ran } = await shownAndRun(
      capped,
      { amount: 5000 },
      {
        beforeTool: ({ args }) => {
          hooks += 1;
          args["amount"] = 1000;
        },
      },
    );
    expect([shown, ran, judged, hooks]).toEqual([
      { amount: 1000 },
      [{ amount: 1000 }],
      [{ amount: 1000 }],
      1,
    ]);
  });

  test("the model still sees its own call as it made it", async () => {
    const model = play([call("pay", { amount: 5000 })], "Done.");
    const pay = tool({ name: "pay", description: "", execute: () => "paid" });
    const agent = new Agent({
      name: "a",
      model,
      tools: [pay],
      beforeTool: ({ args }) => void (args["amount"] = 1),
    });
    await makeRunner({ agent }).send("pay", ana);
    const told = model.requests[1]?.contents.flatMap(({ parts }) =>
      parts.flatMap(({ functionCall }) => functionCall ?? []),
    );
    expect(told).toMatchObject([{ args: { amount: 5000 } }]);
  });
});

const ask = (n: number): Part => call("pay", { n });

function paymentScene(lines: readonly Line[], options: Partial<RunnerOptions> = {}) {
  const paid: number[] = [];
  const pay = tool({
    name: "pay",
    description: "",
    parameters: z.object({ n: z.number() }),
    requireConfirmation: true,
    execute: ({ n }) => void paid.push(n),
  });
  const model: StrictModel = play(...lines);
  const runner = makeRunner({
    ...options,
    agent: new Agent({ name: "a", model, tools: [pay] }),
  });
  return { runner, model, paid };
}

describe("too much", () => {
  test("at most 20 confirmations are open in a session; a call beyond is answered `too-many-open`", async () => {
    const { runner, model } = paymentScene([Array.from({ length: 22 }, (_, n) => ask(n)), "I wait."]);
    const turn = await runner.send("pay all", ana);
    expect(turn.pending).toHaveLength(20);
    for (const { id } of turn.pending) await runner.deny(id, byAna);
    await (await runner.deny(String(turn.pending[0]?.id), byAna)).finished;
    const results = model.requests.slice(1).flatMap(resultsIn);
    expect(results).toHaveLength(22);
    expect(results.slice(20)).toMatchObject([{ code: "too-many-open" }, { code: "too-many-open" }]);
  });

  test("the limit is a setting, and counts what earlier messages left open", async () => {
    const { runner, model } = paymentScene([[ask(1)], [ask(2), ask(3)], "Full."], { maxOpen: 2 });
    const first = await runner.send("pay", ana);
    const second = await runner.send("more", { ...ana, session: first.session });
    expect(second.pending).toHaveLength(2);
    expect(model.requests).toHaveLength(2);
  });

  test("asking for the same call again while it waits points at the open one, and tells no id of a confirmation", async () => {
    const { runner, model } = paymentScene([[ask(1)], [ask(1)], "It still waits."]);
    const first = await runner.send("pay", ana);
    const second = await runner.send("and?", { ...ana, session: first.session });
    expect(second.pending.map(({ id }) => id)).toEqual(first.pending.map(({ id }) => id));
    expect(second.text).toBe("It still waits.");
    const [answer] = model.requests.slice(2).flatMap(resultsIn);
    expect(answer?.["error"]).toContain(String(first.pending[0]?.callId));
  });

  test("the same tool and arguments, once denied, get the earlier denial until the next user message", async () => {
    const { runner, model } = paymentScene([[ask(1)], [ask(1)], "Denied twice.", [ask(1)]]);
    const first = await runner.send("pay", ana);
    const denied = await runner.deny(String(first.pending[0]?.id), { ...byAna, reason: "too dear" });
    expect(await denied.finished).toMatchObject({ status: "completed", text: "Denied twice.", pending: [] });
    expect(model.requests.slice(1, 3).flatMap(resultsIn)).toEqual([
      { error: "tool call was rejected by the user", reason: "too dear" },
      { error: "tool call was rejected by the user", reason: "too dear" },
    ]);
    const next = await runner.send("do it after all", { ...ana, session: first.session });
    expect(next.pending).toHaveLength(1);
  });

  test("a tool that asks by itself is not entered again for what was just denied", async () => {
    const entered: number[] = [];
    const pay = tool({
      name: "pay",
      description: "",
      parameters: z.object({ n: z.number() }),
      execute: async ({ n }, ctx) => {
        entered.push(n);
        await ctx.confirm("sure");
        return "paid";
      },
    });
    const model = play([ask(1)], [ask(1)], "No.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }) });
    const first = await runner.send("pay", ana);
    const denied = await runner.deny(String(first.pending[0]?.id), byAna);
    expect(await denied.finished).toMatchObject({ text: "No.", pending: [] });
    expect(entered).toEqual([1]);
  });
});

test("a lone surrogate in a model's arguments is replaced, and the call continues", async () => {
  expect(await answersTo([call("echo", { text: "lone \ud800 half" })], [echo])).toEqual([
    { said: "lone \ufffd half" },
  ]);
});
