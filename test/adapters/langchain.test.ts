import type { StructuredToolInterface } from "@langchain/core/tools";
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import {
  type HumanInterrupt,
  type HumanResponse,
  ToolNode,
  toolsCondition,
} from "@langchain/langgraph/prebuilt";
import { createAgent, type HITLRequest, type HITLResponse, tool } from "langchain";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createGate, type LangChainGate, type Pause } from "../../src/adapters/langchain/index.ts";
import { Engine, type EngineOptions } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { type ScriptedCall, ScriptedChatModel, type Told } from "./subjects/langchain-model.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const eve = { ...ana, id: "eve" };
const config = { configurable: { thread_id: "t1" } };
const ASK = { messages: [{ role: "user" as const, content: "Pay." }] };
const PAYMENT = { id: "c1", tool: "pay", args: { amount: 40, to: "Bob" } };
const SECOND = { ...PAYMENT, id: "c2", args: { amount: 50, to: "Eve" } };
const APPROVE = { decisions: [{ type: "approve" }] };

let engine: Engine;
let gate: LangChainGate;
let ran: unknown[];
let told: Told;

beforeEach(async () => {
  ran = [];
  told = {};
  await open({});
});

afterEach(async () => {
  await engine.close();
});

async function open(options: Partial<EngineOptions>): Promise<void> {
  engine = new Engine({ ledger: await createLedger("memory:"), ...options });
  gate = createGate({ engine, app: "shop" });
}

const pay = tool(
  (input: { readonly amount: number }) => {
    ran.push(input);
    return { paid: input.amount };
  },
  { name: "pay", description: "Pays.", schema: z.object({ amount: z.number(), to: z.string() }) },
);
const APPROVERS = { approvers: { users: ["ana"] } };

function agentOf(
  tools: readonly unknown[],
  calls: readonly ScriptedCall[] = [PAYMENT],
  checkpointer = new MemorySaver(),
) {
  return createAgent({
    model: new ScriptedChatModel(calls, told),
    tools: tools as StructuredToolInterface[],
    checkpointer,
  });
}

interface Paused {
  readonly __interrupt__?: readonly { readonly id: string; readonly value: Pause }[];
}

async function say(agent: ReturnType<typeof agentOf>, input: unknown = ASK): Promise<Paused> {
  return (await agent.invoke(input as never, config)) as Paused;
}

/** What a front end sends that gives this answer to every question that it shows. */
function answering({ __interrupt__: shown = [] }: Paused, answer: unknown): object {
  return Object.fromEntries(shown.map(({ value }) => [value.countersign.confirmation ?? "", answer]));
}

/** A graph whose one node runs all calls of a message. */
function graphOf(calls: readonly ScriptedCall[]) {
  const model = new ScriptedChatModel(calls, told);
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", new ToolNode(gate.tools([pay], { pay: true })))
    .addEdge("__start__", "model")
    .addConditionalEdges("model", toolsCondition)
    .addEdge("tools", "model")
    .compile({ checkpointer: new MemorySaver() });
}

/** Goes on as a host does when every question is answered. */
async function goOn(agent: ReturnType<typeof agentOf>): Promise<Paused> {
  const resumption = await gate.resume(agent, config);
  if (!resumption.ready) throw new Error("It waits.");
  return say(agent, resumption.command);
}

async function approve(args?: ScriptedCall["args"]): Promise<void> {
  for (const { id } of await engine.pending())
    await engine.approve(id, { by: ana, ...(args === undefined ? {} : { args }) });
}

test("a default that is another one each time runs as it was shown, also after a restart", async () => {
  let made = 0;
  const newId = (): string => `order-${(made += 1)}`;
  const schema = z.object({ amount: z.number(), order: z.string().default(newId) });
  const order = tool(
    (input: unknown) => {
      ran.push(input);
      return "Ordered.";
    },
    { name: "order", description: "Orders.", schema },
  );
  const checkpointer = new MemorySaver();
  const start = (): ReturnType<typeof agentOf> =>
    agentOf(
      gate.tools([order], { order: true }),
      [{ id: "c1", tool: "order", args: { amount: 4 } }],
      checkpointer,
    );
  await say(start());
  const [question] = await engine.pending();
  await approve();
  await goOn(start());
  expect(ran).toEqual([question?.args]);
  expect(ran).toMatchObject([{ amount: 4 }]);
  expect(told["c1"]).toContain("Ordered.");
});

test("other arguments under the same call's id are refused, also if the schema renames all of them", async () => {
  gate = createGate({ engine, app: "shop", identify: () => ({ thread: "t1", turn: "m1" }) });
  const schema = z.object({
    payment: z
      .object({ to: z.string(), amount: z.number() })
      .transform(({ to, amount }) => ({ recipient: to, cents: amount * 100 })),
  });
  const send = tool(
    (input: unknown) => {
      ran.push(input);
      return "Sent.";
    },
    { name: "send", description: "Sends money.", schema },
  );
  const start = (to: string, amount: number): ReturnType<typeof agentOf> =>
    agentOf(gate.tools([send], { send: true }), [
      { id: "c1", tool: "send", args: { payment: { to, amount } } },
    ]);
  const alice = start("alice", 10);
  await say(alice);
  await approve();
  await say(start("bob", 5_000));
  expect(told["c1"]).toContain("was already used for send with different arguments");
  expect(ran).toEqual([]);
  await goOn(alice);
  expect(ran).toEqual([{ payment: { recipient: "alice", cents: 1_000 } }]);
});

describe("the pause", () => {
  test("has the shapes of LangChain's middleware and of Agent Inbox", async () => {
    const rule = { ...APPROVERS, hint: "Pay Bob?", amendable: ["amount"] };
    const { __interrupt__: interrupts } = await say(agentOf(gate.tools([pay], { pay: rule })));
    const [question] = await engine.pending();
    expect(interrupts).toMatchObject([
      {
        value: {
          actionRequests: [{ name: "pay", args: PAYMENT.args, description: "Pay Bob?" }],
          reviewConfigs: [{ actionName: "pay", allowedDecisions: ["approve", "edit", "reject"] }],
          action_request: { action: "pay", args: PAYMENT.args },
          config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: false },
          description: "Pay Bob?",
          countersign: { confirmation: question?.id },
        },
      },
    ]);
  });

  test("fits the types that LangGraph and LangChain publish for front ends", () => {
    expectTypeOf<Pause>().toExtend<HumanInterrupt>();
    expectTypeOf<Pause["actionRequests"][0]>().toExtend<HITLRequest["actionRequests"][number]>();
    expectTypeOf<Pause["reviewConfigs"][0]["actionName"]>().toExtend<string>();
    expectTypeOf<Pause["reviewConfigs"][0]["allowedDecisions"][number]>().toExtend<
      HITLRequest["reviewConfigs"][number]["allowedDecisions"][number]
    >();
  });

  test("shows no secrets, and does not let people edit around them", async () => {
    const rule = { ...APPROVERS, secrets: ["/to"], amendable: ["amount"] };
    const { __interrupt__: interrupts } = await say(agentOf(gate.tools([pay], { pay: rule })));
    expect(JSON.stringify(interrupts)).not.toContain("Bob");
    expect(interrupts?.[0]?.value.config.allow_edit).toBe(false);
  });

  test.each([
    ["a decision", { decisions: [{ type: "approve" }] }],
    ["Agent Inbox's answer", [{ type: "accept", args: null }]],
    ["anything else", true],
  ])("goes on waiting when the graph is resumed with %s", async (_name, resume) => {
    const agent = agentOf(gate.tools([pay], { pay: true }));
    await say(agent);
    for (let sent = 0; sent < 2; sent += 1) {
      const { __interrupt__: interrupts } = await say(agent, new Command({ resume }));
      expect(interrupts).toHaveLength(1);
    }
    expect(ran).toEqual([]);
    expect(await engine.pending()).toHaveLength(1);
    await approve();
    await goOn(agent);
    expect(told["c1"]).toBe('{"paid":40}');
    expect(ran).toEqual([PAYMENT.args]);
  });

  test("streams as any interrupt does", async () => {
    const agent = agentOf(gate.tools([pay], { pay: true }));
    const parts: object[] = [];
    const stream = await agent.stream(ASK, { ...config, streamMode: "updates" });
    for await (const part of stream) parts.push(part as object);
    expect(parts.some((part) => "__interrupt__" in part)).toBe(true);
    expect(await engine.pending()).toHaveLength(1);
  });
});

describe("a button of a front end", () => {
  test("counts as the decision of whoever the server has authenticated", async () => {
    const agent = agentOf(gate.tools([pay], { pay: APPROVERS }));
    const sent = answering(await say(agent), APPROVE);
    expect(await gate.record(config, sent, { by: eve })).toMatchObject([
      { ok: false, code: "not-an-approver" },
    ]);
    expect(await gate.resume(agent, config)).toMatchObject({
      ready: false,
      waiting: [{ status: "pending" }],
    });
    expect(await gate.record(config, sent, { by: ana })).toMatchObject([{ ok: true }]);
    await goOn(agent);
    expect(ran).toEqual([PAYMENT.args]);
    const [closed] = (await engine.ledger.confirmations({ state: "closed" })).items;
    expect(closed?.confirmation.votes).toMatchObject([{ by: { id: "ana" }, via: "langchain" }]);
  });

  test.each([
    [{ decisions: [{ type: "reject", message: "not now" }] } satisfies HITLResponse, "not now"],
    [[{ type: "response", args: "not now" }] satisfies HumanResponse[], "not now"],
    [
      {
        decisions: [{ type: "edit", editedAction: { name: "pay", args: { amount: 20, to: "Bob" } } }],
      } satisfies HITLResponse,
      '"paid":20',
    ],
    [
      { type: "edit", args: { action: "pay", args: { amount: 20, to: "Bob" } } } satisfies HumanResponse,
      '"paid":20',
    ],
    // Agent Inbox has a field for text for each argument.
    [
      [
        { type: "edit", args: { action: "pay", args: { amount: "20", to: "Bob" } } },
      ] satisfies HumanResponse[],
      '"paid":20',
    ],
    [[{ type: "accept", args: null }] satisfies HumanResponse[], '"paid":40'],
  ])("of each kind is understood: %j", async (sent, expected) => {
    const agent = agentOf(gate.tools([pay], { pay: { ...APPROVERS, amendable: ["amount"] } }));
    const shown = await say(agent);
    expect(await gate.record(config, answering(shown, sent), { by: ana })).toMatchObject([{ ok: true }]);
    await goOn(agent);
    expect(told["c1"]).toContain(expected);
  });

  test.each([
    ["a call of another tool", { type: "edit", args: { action: "refund", args: { amount: 20 } } }],
    ["what is not offered", { type: "ignore", args: null }],
    ["two answers to one question", { decisions: [{ type: "approve" }, { type: "approve" }] }],
  ])("with %s decides nothing", async (_name, sent) => {
    const agent = agentOf(gate.tools([pay], { pay: { amendable: true } }));
    const shown = await say(agent);
    expect(await gate.record(config, answering(shown, sent), { by: ana })).toMatchObject([
      { ok: false, code: "malformed-decision" },
    ]);
    expect(await engine.pending()).toHaveLength(1);
  });

  test("decides only the questions that it names", async () => {
    const calls = [PAYMENT, SECOND];
    const agent = agentOf(gate.tools([pay], { pay: true }), calls);
    const { __interrupt__: interrupts = [] } = await say(agent);
    expect(interrupts).toHaveLength(2);
    const second = interrupts.filter(({ value }) => value.action_request.args["to"] === "Eve");
    const byInterrupt = { [second[0]?.id ?? ""]: APPROVE };
    expect(await gate.record(config, byInterrupt, { by: ana })).toMatchObject([
      { ok: false, code: "unknown-confirmation" },
    ]);
    const sent = answering({ __interrupt__: second }, APPROVE);
    expect(await gate.record(config, sent, { by: ana })).toMatchObject([{ ok: true }]);
    expect(await engine.pending()).toMatchObject([{ args: { to: "Bob" } }]);
    await approve();
    await goOn(agent);
    expect(told).toEqual({ c1: '{"paid":40}', c2: '{"paid":50}' });
  });

  test.each([APPROVE, [{ type: "accept", args: null }], { type: "accept", args: null }, true, null])(
    "that names no question decides nothing, also if one is open: %j",
    async (sent) => {
      await say(agentOf(gate.tools([pay], { pay: true })));
      expect(await gate.record(config, sent, { by: ana })).toMatchObject([
        {
          ok: false,
          code: "ambiguous",
          message: expect.stringContaining("countersign.confirmation") as string,
        },
      ]);
      expect(await engine.pending()).toHaveLength(1);
    },
  );

  test("that arrives again gives the stored outcome, and never decides the next question", async () => {
    const graph = graphOf([PAYMENT, SECOND]);
    const sent = answering((await graph.invoke(ASK, config)) as Paused, APPROVE);
    expect(await gate.record(config, sent, { by: ana })).toMatchObject([{ ok: true }]);
    const resumption = await gate.resume(graph, config);
    if (!resumption.ready) throw new Error("It waits.");
    // One task: the next interrupt has the same id.
    const { __interrupt__: next } = (await graph.invoke(resumption.command, config)) as Paused;
    expect(next).toHaveLength(1);
    const [waiting] = await engine.pending();
    expect(await gate.record(config, sent, { by: ana })).toMatchObject([{ ok: true }]);
    expect(await engine.pending()).toMatchObject([{ id: waiting?.id }]);
    expect(ran).toHaveLength(1);
  });

  test("about another conversation's question decides nothing", async () => {
    const sent = answering(await say(agentOf(gate.tools([pay], { pay: true }))), APPROVE);
    const elsewhere = { configurable: { thread_id: "t2" } };
    expect(await gate.record(elsewhere, sent, { by: ana })).toMatchObject([
      { ok: false, code: "unknown-confirmation" },
    ]);
    expect(await engine.pending()).toHaveLength(1);
  });
});

describe("which tools are gated", () => {
  test("all of them, if the engine has a policy", async () => {
    await engine.close();
    await open({ policy: () => ({ outcome: "deny", reason: "too much" }) });
    await say(agentOf(gate.tools([pay], {})));
    expect(told["c1"]).toContain("too much");
    expect(ran).toEqual([]);
  });

  test("not one without a rule: it is the author's own object", () => {
    const note = tool(() => "noted", { name: "note", description: "Notes.", schema: z.object({}) });
    expect(gate.tools([pay, note], { pay: true })[1]).toBe(note);
  });

  test("none that runs elsewhere, and none that does not exist: such a rule is refused", () => {
    const search = { type: "web_search", name: "search" } as const;
    expect(gate.tools([search], {})).toEqual([search]);
    expect(() => gate.tools([search], { search: true })).toThrow('"search" cannot be gated');
    expect(() => gate.tools([pay], { pya: true } as never)).toThrow('"pya"');
  });

  test("one that takes a text", async () => {
    const shout = tool((text: string) => text.toUpperCase(), {
      name: "shout",
      description: "Shouts.",
      schema: z.string(),
    });
    const rule = {
      hint: ({ input }: { readonly input: string }) => `Shout ${input}?`,
      amendable: true,
    } as const;
    const agent = agentOf(gate.tools([shout], { shout: rule }), [
      { id: "c1", tool: "shout", args: { input: "hello" } },
    ]);
    await say(agent);
    expect(await engine.pending()).toMatchObject([{ hint: "Shout hello?", args: { input: "hello" } }]);
    await approve({ input: "bye" });
    await goOn(agent);
    expect(told["c1"]).toContain('"BYE"');
  });
});

describe("what a tool returns", () => {
  test("with an artifact keeps it, and an approver's changes are told", async () => {
    const schema = z.object({ amount: z.number() });
    const both = tool(({ amount }) => [`Paid ${amount}.`, { receipt: amount }], {
      name: "both",
      description: "Pays.",
      schema,
      responseFormat: "content_and_artifact",
    });
    const agent = agentOf(gate.tools([both], { both: { amendable: true } }), [
      { id: "c1", tool: "both", args: { amount: 40 } },
    ]);
    await say(agent);
    await approve({ amount: 20 });
    const done = (await goOn(agent)) as { readonly messages: readonly object[] };
    expect(told["c1"]).toContain('"result":"Paid 20."');
    expect(done.messages).toContainEqual(expect.objectContaining({ artifact: { receipt: 20 } }));
  });

  test("by throwing reaches the model as it would alone", async () => {
    const fails = tool(
      () => {
        throw new Error("card declined");
      },
      { name: "pay", description: "Pays.", schema: z.object({ amount: z.number() }) },
    );
    await say(agentOf(gate.tools([fails], { pay: { requireConfirmation: false } })));
    expect(told["c1"]).toContain("card declined");
  });

  test("as a Command is not applied, and the model hears so", async () => {
    const moves = tool(() => new Command({ goto: "elsewhere" }), {
      name: "pay",
      description: "Pays.",
      schema: z.object({ amount: z.number() }),
    });
    await say(agentOf(gate.tools([moves], { pay: { requireConfirmation: false } })));
    expect(told["c1"]).toContain("returned a Command");
  });
});

test("changed arguments that the tool's schema would change again do not run", async () => {
  const cents = tool(pay.func as never, {
    name: "pay",
    description: "Pays.",
    schema: z.object({ amount: z.number().overwrite((euros) => euros * 100), to: z.string() }),
  });
  const agent = agentOf(gate.tools([cents], { pay: { amendable: ["amount"] } }));
  await say(agent);
  await approve({ amount: 2_000, to: "Bob" });
  await goOn(agent);
  expect(told["c1"]).toContain("they were not run");
  expect(ran).toEqual([]);
});

test("a graph with a ToolNode of its own pauses for each call of a message, and runs each once", async () => {
  const graph = graphOf([PAYMENT, SECOND]);
  await graph.invoke(ASK, config);
  // One node runs both: the framework shows one interrupt at a time, and a resume may find the other.
  for (let rounds = 0; told["c2"] === undefined && rounds < 4; rounds += 1) {
    await approve();
    const resumption = await gate.resume(graph, config);
    if (resumption.ready) await graph.invoke(resumption.command, config);
  }
  expect(told).toEqual({ c1: '{"paid":40}', c2: '{"paid":50}' });
  expect(ran).toHaveLength(2);
});

test("a run without a thread is refused, and nothing is asked", async () => {
  const [gated] = gate.tools([pay], { pay: true });
  await expect(gated.invoke({ ...PAYMENT, name: "pay", type: "tool_call" }, {})).rejects.toThrow("thread_id");
  await expect(gated.invoke(PAYMENT.args, config)).rejects.toThrow("without the model's call");
  expect(await engine.pending()).toEqual([]);
});
