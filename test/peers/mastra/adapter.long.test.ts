import type { LanguageModelV2, LanguageModelV2Prompt } from "@ai-sdk/provider-v5";
import { Agent, type AgentRun } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createGate, type GivenRule, type MastraGate } from "../../../src/adapters/mastra/index.ts";
import { Engine, type EngineOptions } from "../../../src/engine/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import { scripted } from "./scripted.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;

let engine: Engine;
let ran: unknown[];

beforeEach(async () => {
  ran = [];
  engine = await open();
});

afterEach(() => engine.close());

async function open(options: Partial<EngineOptions> = {}): Promise<Engine> {
  return new Engine({ ledger: await createLedger("memory:"), ...options });
}

test("a tool without a rule is the author's own object", () => {
  const gate = createGate({ engine, app: "shop", identify: ({ threadId }) => ({ thread: threadId }) });
  const note = createTool({ id: "note", description: "Notes.", execute: async () => "noted" });
  expect(gate.tools({ pay: payTool(), note }, { pay: true }).note).toBe(note);
});

const payment = z.object({ amount: z.number().default(1000), currency: z.string().default("EUR") });
type Payment = z.infer<typeof payment>;
type More = Partial<Parameters<typeof createTool<"pay", typeof payment>>[0]>;

function payTool(more: More = {}) {
  return createTool({
    id: "pay",
    description: "Pays.",
    inputSchema: payment,
    execute: async (input) => {
      ran.push(input);
      return { paid: input.amount };
    },
    ...more,
  });
}

interface Chat {
  readonly gate: MastraGate;
  readonly agent: Agent;
  /** What the model was told of each call. */
  readonly told: Record<string, string>;
  run(): Promise<AgentRun>;
}

/** A conversation in which the model has made these calls. */
async function chat(calls: readonly JsonObject[], rule?: GivenRule<Payment>, more?: More): Promise<Chat> {
  const gate = createGate({
    engine,
    app: "shop",
    identify: ({ threadId, resourceId = "" }) => ({ thread: threadId, user: resourceId }),
  });
  const told: Record<string, string> = {};
  const made = calls.map((args, place) => ({ id: `c${place}`, tool: "pay", args }) as const);
  const agent = new Agent({
    id: "cashier",
    name: "cashier",
    instructions: "Pay.",
    model: scripted(made, told),
    tools: gate.tools({ pay: payTool(more) }, rule === undefined ? {} : { pay: rule }),
  });
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  await agent.generate("Pay.", { memory: { thread: "t1", resource: "ana" } });
  const run = async (): Promise<AgentRun> => {
    const [only] = (await agent.listSuspendedRuns({ threadId: "t1" })).runs;
    if (only === undefined) throw new Error("It does not wait.");
    return only;
  };
  return { gate, agent, told, run };
}

async function resume({ gate, agent, run }: Chat): Promise<void> {
  const suspended = await run();
  const resumption = await gate.resume(suspended);
  if (!resumption.ready) throw new Error("It waits.");
  await agent.resumeGenerate(resumption.resumeData, { runId: suspended.runId });
}

async function approve(args?: JsonObject): Promise<void> {
  const [question] = await engine.pending();
  await engine.approve(question?.id ?? "", { by: ana, ...(args === undefined ? {} : { args }) });
}

describe("a button", () => {
  test("counts as the decision of whoever the server has authenticated", async () => {
    const paused = await chat([{ amount: 40 }], true);
    const answer = { toolCallId: "c0", approved: true };
    expect(
      await paused.gate.record(await paused.run(), [answer], { by: { ...ana, id: "eve" } }),
    ).toMatchObject([{ ok: false, code: "not-an-approver" }]);
    expect(await paused.gate.record(await paused.run(), [answer], { by: ana })).toMatchObject([
      { ok: true, call: { status: "allowed" } },
    ]);
    await resume(paused);
    expect(paused.told["c0"]).toContain('"paid":40');
    const [decided] = (await engine.ledger.confirmations({ state: "closed" })).items;
    expect(decided?.confirmation.votes).toMatchObject([{ by: { id: "ana" }, via: "mastra" }]);
  });

  test("of Mastra alone decides nothing: the run suspends again, and the model is not called", async () => {
    const { agent, gate, told, run } = await chat([{ amount: 40 }], true);
    const { runId } = await run();
    const options = { runId, toolCallId: "c0" };
    await (await agent.approveToolCall(options)).consumeStream();
    await (await agent.declineToolCall({ ...options, reason: "no" })).consumeStream();
    await agent.resumeGenerate({ confirmed: true }, options);
    expect([ran, told]).toEqual([[], {}]);
    expect(await gate.resume(await run())).toMatchObject({ waiting: [{ status: "pending" }] });
  });
});

test("a default that is another one each time runs as it was shown", async () => {
  let made = 0;
  const currency = z.string().default(() => `currency-${(made += 1)}`);
  const inputSchema = payment.extend({ currency });
  const paused = await chat([{ amount: 40 }], true, { inputSchema });
  const [question] = await engine.pending();
  await approve();
  await resume(paused);
  expect(ran).toEqual([question?.args]);
  expect(ran).toMatchObject([{ amount: 40 }]);
  expect(paused.told["c0"]).toContain('"paid":40');
});

test("what the model sends is seen before a tool's own `onInputAvailable`, which is called as before", async () => {
  const seen: unknown[] = [];
  const onInputAvailable: More["onInputAvailable"] = ({ input }) => {
    seen.push(input);
  };
  const paused = await chat([{ amount: 40 }], true, { onInputAvailable });
  await approve();
  await resume(paused);
  expect(seen).toEqual([{ amount: 40 }, { amount: 40 }]);
  expect(ran).toEqual([{ amount: 40, currency: "EUR" }]);
});

type Asked = Parameters<LanguageModelV2["doStream"]>[0];

test.each(["generate", "stream"] as const)(
  "conversations whose provider counts its ids from zero each run what was shown in them (%s)",
  async (how) => {
    let made = 0;
    const currency = z.string().default(() => `currency-${(made += 1)}`);
    const gate = createGate({ engine, app: "shop", identify: ({ threadId }) => ({ thread: threadId }) });
    const amounts = [40, 50, 60];
    const paying = (prompt: LanguageModelV2Prompt): LanguageModelV2 => {
      const asked = JSON.stringify(prompt.findLast(({ role }) => role === "user"));
      const amount = amounts.find((each) => asked.includes(String(each))) ?? 0;
      return scripted([{ id: "c0", tool: "pay", args: { amount } }], {});
    };
    const agent = new Agent({
      id: "cashier",
      name: "cashier",
      instructions: "Pay.",
      model: {
        ...scripted([], {}),
        doGenerate: async (options: Asked) => paying(options.prompt).doGenerate(options),
        doStream: async (options: Asked) => paying(options.prompt).doStream(options),
      },
      tools: gate.tools({ pay: payTool({ inputSchema: payment.extend({ currency }) }) }, { pay: true }),
    });
    new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
    await Promise.all(
      amounts.map(async (amount) => {
        const options = { memory: { thread: `t${amount}`, resource: "ana" } };
        if (how === "generate") await agent.generate(`Pay ${amount}.`, options);
        else await (await agent.stream(`Pay ${amount}.`, options)).consumeStream();
      }),
    );
    const questions = await engine.pending();
    for (const { id } of questions) await engine.approve(id, { by: ana });
    for (const amount of amounts) {
      const [run] = (await agent.listSuspendedRuns({ threadId: `t${amount}` })).runs;
      if (run === undefined) throw new Error("It does not wait.");
      const resumption = await gate.resume(run);
      if (!resumption.ready) throw new Error("It waits.");
      const at = { runId: run.runId };
      if (how === "generate") await agent.resumeGenerate(resumption.resumeData, at);
      else await (await agent.resumeStream(resumption.resumeData, at)).consumeStream();
    }
    const byAmount = (one: unknown, other: unknown): number =>
      (one as Payment).amount - (other as Payment).amount;
    expect(ran.toSorted(byAmount)).toEqual(questions.map(({ args }) => args).toSorted(byAmount));
    expect(ran).toHaveLength(amounts.length);
  },
);

test("a streamed run asks once, also if a default is another one each time", async () => {
  let made = 0;
  const currency = z.string().default(() => `currency-${(made += 1)}`);
  const told: Record<string, string> = {};
  const gate = createGate({ engine, app: "shop", identify: ({ threadId }) => ({ thread: threadId }) });
  const agent = new Agent({
    id: "cashier",
    name: "cashier",
    instructions: "Pay.",
    model: scripted([{ id: "c0", tool: "pay", args: { amount: 40 } }], told),
    tools: gate.tools({ pay: payTool({ inputSchema: payment.extend({ currency }) }) }, { pay: true }),
  });
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  const stream = await agent.stream("Pay.", { memory: { thread: "t1", resource: "ana" } });
  await stream.consumeStream();
  const [question] = await engine.pending();
  await approve();
  const [run] = (await agent.listSuspendedRuns({ threadId: "t1" })).runs;
  if (run === undefined) throw new Error("It does not wait.");
  expect(await gate.resume(run)).toMatchObject({ ready: true });
  await (await agent.resumeStream({ answered: true }, { runId: run.runId })).consumeStream();
  expect(ran).toEqual([question?.args]);
  expect(told["c0"]).toContain('"paid":40');
});

describe("which calls are gated", () => {
  test("as the rule says of the arguments that run, with the schema's defaults, also when they are resumed", async () => {
    const paused = await chat([{}], { requireConfirmation: ({ amount }) => amount > 10 });
    expect(await engine.pending()).toMatchObject([{ args: { amount: 1000, currency: "EUR" } }]);
    await approve();
    await resume(paused);
    expect(ran).toEqual([{ amount: 1000, currency: "EUR" }]);
  });

  test("without a rule, as the tool's own `requireApproval` says", async () => {
    const requireApproval = ({ amount }: Payment): boolean => amount > 10;
    const paused = await chat([{ amount: 5 }, { amount: 40 }], undefined, { requireApproval });
    expect(ran).toMatchObject([{ amount: 5 }]);
    await approve();
    await resume(paused);
    expect(ran).toMatchObject([{ amount: 5 }, { amount: 40 }]);
    expect(paused.told).toMatchObject({
      c0: expect.stringContaining('"paid":5') as string,
      c1: expect.stringContaining('"paid":40') as string,
    });
  });

  test("all of them, if the engine has a policy", async () => {
    await engine.close();
    engine = await open({ policy: () => ({ outcome: "deny", reason: "too much" }) });
    const { told } = await chat([{ amount: 40 }]);
    expect(told["c0"]).toContain("too much");
    expect(ran).toEqual([]);
  });

  test("none that is not a tool of Mastra, and none that does not exist: such a rule is refused", () => {
    const gate = createGate({ engine, app: "shop", identify: ({ threadId }) => ({ thread: threadId }) });
    const plain = { id: "plain", description: "Plain." };
    expect(() => gate.tools({ plain }, { plain: true })).toThrow("make it with createTool");
    expect(() => gate.tools({ plain }, { other: true } as never)).toThrow('a rule for the tool "other"');
  });
});

test("a run without a thread asks nothing and runs nothing", async () => {
  const told: Record<string, string> = {};
  const gate = createGate({ engine, app: "shop", identify: ({ threadId }) => ({ thread: threadId }) });
  const agent = new Agent({
    id: "cashier",
    name: "cashier",
    instructions: "Pay.",
    model: scripted([{ id: "c0", tool: "pay", args: { amount: 40 } }], told),
    tools: gate.tools({ pay: payTool() }, { pay: true }),
  });
  await agent.generate("Pay.");
  expect(told["c0"]).toContain("has no thread");
  expect([ran, await engine.pending()]).toEqual([[], []]);
});

test("a gated tool cannot suspend by itself", async () => {
  const { told } = await chat(
    [{ amount: 40 }],
    { requireConfirmation: false },
    {
      execute: async (_input, { agent }) => agent?.suspend({}),
    },
  );
  expect(told["c0"]).toContain("cannot suspend");
});

test("what the author makes of a result is for results that the author knows", async () => {
  const toModelOutput = (output: unknown): unknown => {
    return { type: "text", value: `paid ${(output as { readonly paid: number }).paid}` };
  };
  const paused = await chat(
    [{ amount: 40 }, { amount: 5 }],
    { requireConfirmation: ({ amount }) => amount > 10, amendable: true },
    {
      toModelOutput,
    } as More,
  );
  await approve({ amount: 20, currency: "EUR" });
  await resume(paused);
  expect(paused.told["c0"]).toContain('"ranWith":{"amount":20,"currency":"EUR"}');
  expect(paused.told["c1"]).toContain("paid 5");
});
