import {
  Agent,
  type FunctionTool,
  type Model,
  type ModelRequest,
  Runner,
  RunState,
  Usage,
} from "@openai/agents";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type AgentsGate, createGate } from "../../src/adapters/openai-agents/index.ts";
import { Engine } from "../../src/engine/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const context = { chat: "t1", message: "m1" };
const runner = new Runner({ tracingDisabled: true });

type Context = typeof context;

let engine: Engine;
let gate: AgentsGate<Context>;
let ran: unknown[];

beforeEach(async () => {
  ran = [];
  engine = new Engine({ ledger: await createLedger("memory:") });
  gate = createGate({
    engine,
    app: "shop",
    identify: ({ chat, message }) => ({ thread: chat, turn: message, user: "ana" }),
  });
});

afterEach(async () => {
  await engine.close();
});

const PAYMENT = {
  name: "pay",
  description: "Pays.",
  parameters: z.object({ amount: z.number().default(1_000), to: z.string() }),
};
const pays = async (input: { readonly amount: number }): Promise<{ readonly paid: number }> => {
  ran.push(input);
  return { paid: input.amount };
};

const failing = async (): Promise<never> => {
  throw new Error("card declined");
};

/** Makes one call when a user speaks, and repeats what it hears. */
function model(args: JsonObject): Model {
  return {
    getResponse: async ({ input }: ModelRequest) => {
      const last = typeof input === "string" ? undefined : input.at(-1);
      const call = { type: "function_call", callId: "c1", name: "pay", status: "completed" } as const;
      if (last?.type !== "function_call_result")
        return { usage: new Usage(), output: [{ ...call, arguments: JSON.stringify(args) }] };
      const content = [{ type: "output_text" as const, text: JSON.stringify(last.output) }];
      return {
        usage: new Usage(),
        output: [{ type: "message", role: "assistant", status: "completed", content }],
      };
    },
    getStreamedResponse: () => {
      throw new Error("It does not stream.");
    },
  };
}

function cashier(tool: FunctionTool<Context, typeof PAYMENT.parameters>, args: JsonObject): Agent<Context> {
  return new Agent<Context>({ name: "cashier", model: model(args), tools: [tool] });
}

describe("a button of the program's own front end", () => {
  test("counts as the decision of whoever the server has authenticated", async () => {
    const agent = cashier(gate.tool({ ...PAYMENT, execute: pays }), { amount: 40, to: "Bob" });
    const { state } = await runner.run(agent, "Pay.", { context });
    const stored = await RunState.fromString<Context, Agent<Context>>(agent, state.toString());
    const [item] = stored.getInterruptions();
    if (item === undefined) throw new Error("It does not wait.");
    const eve = { ...ana, id: "eve" };
    expect(await gate.record(stored, [{ item, approved: true }], { by: eve })).toMatchObject([{ ok: false }]);
    expect(await gate.resume(stored)).toMatchObject({ ready: false, waiting: [{ status: "pending" }] });
    expect(await gate.record(stored, [{ item, approved: true }], { by: ana })).toMatchObject([{ ok: true }]);
    expect(await gate.resume(stored)).toEqual({ ready: true });
    expect((await runner.run(agent, stored)).finalOutput).toContain("40");
    expect(ran).toEqual([{ amount: 40, to: "Bob" }]);
  });

  test("that only changes the state stops the run before the model", async () => {
    const agent = cashier(gate.tool({ ...PAYMENT, execute: pays }), { amount: 40, to: "Bob" });
    const { state } = await runner.run(agent, "Pay.", { context });
    for (const item of state.getInterruptions()) state.approve(item);
    await expect(runner.run(agent, state)).rejects.toThrow("waits for a person's approval");
    expect(ran).toEqual([]);
  });

  test("that only rejects in the state decides nothing: the ledger's answer replaces it", async () => {
    const agent = cashier(gate.tool({ ...PAYMENT, execute: pays }), { amount: 40, to: "Bob" });
    const { state } = await runner.run(agent, "Pay.", { context });
    for (const item of state.getInterruptions()) state.reject(item);
    expect(await gate.resume(state)).toMatchObject({ ready: false, waiting: [{ status: "pending" }] });
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    expect(await gate.resume(state)).toEqual({ ready: true });
    expect((await runner.run(agent, state)).finalOutput).toContain("40");
    expect(ran).toEqual([{ amount: 40, to: "Bob" }]);
  });
});

test("arguments that the state has changed since the approval do not run", async () => {
  let made = 0;
  const parameters = PAYMENT.parameters.extend({ order: z.string().default(() => `order-${(made += 1)}`) });
  const pay = gate.tool({ ...PAYMENT, parameters, execute: pays });
  const agent = cashier(pay, { amount: 40, to: "Bob" });
  const { state } = await runner.run(agent, "Pay.", { context });
  await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
  const text = state.toString().replaceAll('\\"amount\\":40', '\\"amount\\":4000');
  expect(text).not.toBe(state.toString());
  const changed = await RunState.fromString<Context, Agent<Context>>(agent, text);
  expect(await gate.resume(changed)).toEqual({ ready: true });
  await expect(runner.run(agent, changed)).rejects.toThrow("different arguments");
  expect(ran).toEqual([]);
});

test("arguments that do not fit the tool are told to the model, and nobody is asked about them", async () => {
  const pay = gate.tool({ ...PAYMENT, execute: pays });
  const done = await runner.run(cashier(pay, { amount: "many", to: "Bob" }), "Pay.", { context });
  expect(done.interruptions).toEqual([]);
  expect(done.finalOutput).toContain("Invalid");
  expect([ran, await engine.pending()]).toEqual([[], []]);
});

test("changed arguments that the tool's schema would change again do not run", async () => {
  const parameters = z.object({ amount: z.number().overwrite((euros) => euros * 100), to: z.string() });
  const pay = gate.tool({ ...PAYMENT, parameters, execute: pays }, { amendable: ["amount"] });
  const agent = cashier(pay as never, { amount: 40, to: "Bob" });
  const { state } = await runner.run(agent, "Pay.", { context });
  const [question] = await engine.pending();
  await engine.approve(question?.id ?? "", { by: ana, args: { amount: 2_000, to: "Bob" } });
  expect(await gate.resume(state)).toEqual({ ready: true });
  expect((await runner.run(agent, state)).finalOutput).toContain("they were not run");
  expect(ran).toEqual([]);
});

test("the rule judges the arguments that would run, with the schema's defaults", async () => {
  const pay = gate.tool({ ...PAYMENT, execute: pays }, { requireConfirmation: ({ amount }) => amount > 100 });
  const { interruptions } = await runner.run(cashier(pay, { to: "Bob" }), "Pay.", { context });
  expect(interruptions).toHaveLength(1);
  expect(await engine.pending()).toMatchObject([{ args: { amount: 1_000, to: "Bob" } }]);
});

test("a tool's own `needsApproval` is its rule, unless it has another", async () => {
  const pay = gate.tool({
    ...PAYMENT,
    execute: pays,
    needsApproval: async (_run, { amount }) => amount > 100,
  });
  const done = await runner.run(cashier(pay, { amount: 5, to: "Bob" }), "Pay.", { context });
  expect(done.interruptions).toEqual([]);
  const later = { ...context, message: "m2" };
  const paused = await runner.run(cashier(pay, { amount: 500, to: "Bob" }), "Pay.", { context: later });
  expect(paused.interruptions).toHaveLength(1);
  expect(ran).toEqual([{ amount: 5, to: "Bob" }]);
});

test("what the function throws reaches the model, and is stored as a failure", async () => {
  const pay = gate.tool({ ...PAYMENT, execute: failing }, { requireConfirmation: false });
  const done = await runner.run(cashier(pay, { amount: 5, to: "Bob" }), "Pay.", { context });
  expect(done.finalOutput).toContain("card declined");
});
