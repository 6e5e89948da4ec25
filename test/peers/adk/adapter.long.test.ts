import {
  BaseLlm,
  type BaseLlmConnection,
  type BaseTool,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  Runner,
  type Session,
} from "@google/adk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type AdkGate, createGate, type Rules } from "../../../src/adapters/google-adk/index.ts";
import { Engine, type EngineOptions } from "../../../src/engine/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { createLedger } from "../../../src/stores/index.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const ASK = "adk_request_confirmation";
const KEY = { appName: "shop", userId: "ana", sessionId: "s1" };

let engine: Engine;
let ran: unknown[];
let heard: string;

beforeEach(async () => {
  ran = [];
  heard = "";
  engine = await open();
});

afterEach(() => engine.close());

async function open(options: Partial<EngineOptions> = {}): Promise<Engine> {
  return new Engine({ ledger: await createLedger("memory:"), ...options });
}

const payment = z.object({ amount: z.number().default(1000), currency: z.string().default("EUR") });
type Payment = z.infer<typeof payment>;
type Own = NonNullable<ConstructorParameters<typeof FunctionTool<typeof payment>>[0]["requireConfirmation"]>;

function payTool(requireConfirmation: Own = false): FunctionTool<typeof payment> {
  return new FunctionTool({
    name: "pay",
    description: "Pays.",
    parameters: payment,
    requireConfirmation,
    execute: (input) => {
      ran.push(input);
      return { paid: input.amount };
    },
  });
}

interface Chat {
  readonly gate: AdkGate;
  session(): Promise<Session>;
  say(message: Parameters<Runner["runAsync"]>[0]["newMessage"]): Promise<void>;
}

/** A conversation in which the model makes these calls once. */
async function chat(
  calls: readonly JsonObject[],
  rules?: Rules,
  own?: Own,
  tool: BaseTool = payTool(own),
): Promise<Chat> {
  const gate = createGate({
    engine,
    app: "shop",
    identify: ({ id, userId }) => ({ thread: id, user: userId }),
  });
  const sessionService = new InMemorySessionService();
  await sessionService.createSession(KEY);
  const tools = gate.tools([tool], rules);
  const agent = new LlmAgent({ name: "cashier", model: new Scripted(calls), tools });
  const runner = new Runner({ appName: KEY.appName, agent, sessionService });
  return {
    gate,
    session: async () => {
      const session = await sessionService.getSession(KEY);
      if (session === undefined) throw new Error("There is no session.");
      return session;
    },
    say: async (newMessage) => {
      for await (const _event of runner.runAsync({ ...KEY, newMessage }));
    },
  };
}

class Scripted extends BaseLlm {
  readonly #calls: readonly JsonObject[];

  constructor(calls: readonly JsonObject[]) {
    super({ model: "scripted" });
    this.#calls = calls;
  }

  override async *generateContentAsync({ contents }: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const last = contents.at(-1)?.parts ?? [];
    const isAnswer = last.some(({ functionResponse }) => functionResponse !== undefined);
    if (isAnswer) heard = JSON.stringify(last.map(({ functionResponse }) => functionResponse));
    const calls = this.#calls.map((args, place) => ({
      functionCall: { id: `c${place}`, name: "pay", args },
    }));
    yield { content: { role: "model", parts: isAnswer ? [{ text: "Done." }] : calls } };
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error("It does not stream.");
  }
}

const USER = { role: "user", parts: [{ text: "Pay." }] };

/** What an ADK front end sends when somebody presses a button. */
function pressed({ events }: Session, confirmed: boolean, most = Number.POSITIVE_INFINITY) {
  const calls = events.flatMap(({ content }) => content?.parts ?? []).map(({ functionCall }) => functionCall);
  const ids = calls.flatMap((call) => (call?.name === ASK ? [call.id ?? ""] : []));
  const parts = ids.slice(0, most).map((id) => {
    return { functionResponse: { id, name: ASK, response: { confirmed } } };
  });
  return { role: "user", parts };
}

describe("a button of the ADK's own front end", () => {
  test("counts as the decision of whoever the server has authenticated", async () => {
    const { gate, session, say } = await chat([{ amount: 40 }], { pay: true });
    await say(USER);
    const message = pressed(await session(), true);
    const recorded = await gate.record(await session(), message, { by: ana });
    expect(recorded).toMatchObject([{ ok: true, call: { status: "allowed" } }]);
    await say(message);
    expect(heard).toContain('"paid":40');
    const [decided] = (await engine.ledger.confirmations({ state: "closed" })).items;
    expect(decided?.confirmation.votes).toMatchObject([{ by: { id: "ana" }, via: "google-adk" }]);
  });

  test("of somebody who may not decide is refused; the run stops before the model, and goes on later", async () => {
    const { gate, session, say } = await chat([{ amount: 40 }], { pay: true });
    await say(USER);
    for (const confirmed of [true, false]) {
      const message = pressed(await session(), confirmed);
      const eve = { ...ana, id: "eve" };
      const recorded = await gate.record(await session(), message, { by: eve });
      expect(recorded).toMatchObject([{ ok: false, code: "not-an-approver" }]);
      await expect(say(message)).rejects.toMatchObject({ code: "not-claimable" });
    }
    expect([ran, heard]).toEqual([[], ""]);
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    const resumption = await gate.resume(await session());
    if (!resumption.ready) throw new Error("It waits.");
    await say(resumption.newMessage);
    expect(heard).toContain('"paid":40');
    expect(await gate.resume(await session())).toEqual({ ready: false, waiting: [] });
  });

  test("for one of two calls leaves the model waiting for the other", async () => {
    const { gate, session, say } = await chat([{ amount: 40 }, { amount: 50 }], { pay: true });
    await say(USER);
    const message = pressed(await session(), true, 1);
    await gate.record(await session(), message, { by: ana });
    await expect(say(message)).rejects.toMatchObject({ code: "not-claimable" });
    expect([ran, heard]).toEqual([[], ""]);
    expect(await gate.resume(await session())).toMatchObject({ waiting: [{ status: "pending" }] });
  });
});

describe("an answer in another form", () => {
  const answer = (session: Session, response: Record<string, unknown>) => {
    const [part] = pressed(session, true).parts;
    return { role: "user", parts: [{ functionResponse: { ...part?.functionResponse, response } }] };
  };

  test.each<[Record<string, unknown>, string]>([
    [{ toolConfirmation: { confirmed: true } }, "allowed"],
    [{ response: { confirmed: true } }, "allowed"],
    [{ response: '{"confirmed":true}' }, "allowed"],
    [{ response: { confirmed: false, reason: "too much" } }, "denied"],
  ])("is read: %j", async (response, status) => {
    const { gate, session, say } = await chat([{ amount: 40 }], { pay: true });
    await say(USER);
    const recorded = await gate.record(await session(), answer(await session(), response), { by: ana });
    expect(recorded).toMatchObject([{ ok: true, call: { status } }]);
  });

  test.each<Record<string, unknown>>([
    { confirmed: "true" },
    { toolConfirmation: { confirmed: 1 } },
    { response: "yes" },
    { confirmed: true, toolConfirmation: { confirmed: false } },
  ])("decides nothing if it is not true or false: %j", async (response) => {
    const { gate, session, say } = await chat([{ amount: 40 }], { pay: true });
    await say(USER);
    const recorded = await gate.record(await session(), answer(await session(), response), { by: ana });
    expect(recorded).toMatchObject([{ ok: false, code: "malformed-decision" }]);
    expect(await engine.pending()).toHaveLength(1);
  });
});

describe("beside a call that waits", () => {
  const small: Rules = { pay: { requireConfirmation: ({ amount }: Payment) => amount > 10 } };

  test.each([[[{ amount: 5 }, { amount: 40 }]], [[{ amount: 40 }, { amount: 5 }]]])(
    "a call that ran is told to the model: %j",
    async (calls) => {
      const { gate, session, say } = await chat(calls, small);
      await say(USER);
      expect(ran).toMatchObject([{ amount: 5 }]);
      await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
      const resumption = await gate.resume(await session());
      if (!resumption.ready) throw new Error("It waits.");
      await say(resumption.newMessage);
      expect(heard).toContain('"paid":5');
      expect(heard).toContain('"paid":40');
      expect(ran).toHaveLength(2);
    },
  );
});

describe("which calls are gated", () => {
  test("as the rule says of the arguments that run, with the schema's defaults", async () => {
    const { say } = await chat([{}], { pay: { requireConfirmation: ({ amount }: Payment) => amount > 10 } });
    await say(USER);
    expect(ran).toEqual([]);
    expect(await engine.pending()).toMatchObject([{ args: { amount: 1000, currency: "EUR" } }]);
  });

  test("without a rule, as the tool's own `requireConfirmation` says", async () => {
    const own: Own = ({ amount }) => amount > 10;
    const free = await chat([{ amount: 5 }], {}, own);
    await free.say(USER);
    expect(heard).toContain('"paid":5');
    const asked = await chat([{ amount: 40 }], {}, own);
    await asked.say(USER);
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    const resumption = await asked.gate.resume(await asked.session());
    if (!resumption.ready) throw new Error("It waits.");
    await asked.say(resumption.newMessage);
    expect(ran).toMatchObject([{ amount: 5 }, { amount: 40 }]);
  });

  test("without a rule, as the tool's own `requireConfirmation` said when the model called it", async () => {
    let asks = true;
    const { gate, session, say } = await chat([{ amount: 40 }], {}, () => asks);
    await say(USER);
    asks = false;
    await expect(say(pressed(await session(), true))).rejects.toMatchObject({ code: "not-claimable" });
    expect(ran).toEqual([]);
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    const resumption = await gate.resume(await session());
    if (!resumption.ready) throw new Error("It waits.");
    await say(resumption.newMessage);
    expect(heard).toContain('"paid":40');
    expect(ran).toHaveLength(1);
    expect(await gate.cancel("s1", "nothing is left to start")).toBe(0);
  });

  test("all of them, if the engine has a policy", async () => {
    await engine.close();
    engine = await open({ policy: () => ({ outcome: "deny", reason: "too much" }) });
    const { say } = await chat([{ amount: 40 }]);
    await say(USER);
    expect(heard).toContain("too much");
    expect(ran).toEqual([]);
  });

  test("a rule for a tool that does not exist is refused", async () => {
    await expect(chat([], { pya: true })).rejects.toThrow('a rule for the tool "pya"');
  });
});

test("a default that is another one each time runs as it was shown", async () => {
  let made = 0;
  const newId = (): string => `order-${(made += 1)}`;
  const execute = (input: unknown): string => {
    ran.push(input);
    return "Paid.";
  };
  const parameters = z.object({ amount: z.number(), order: z.string().default(newId) });
  const tool = new FunctionTool({ name: "pay", description: "Pays.", parameters, execute });
  const judged: Payment[] = [];
  const rule = { requireConfirmation: (args: Payment) => judged.push(args) > 0 && args.amount > 10 };
  const free = await chat([{ amount: 4 }], { pay: rule }, undefined, tool);
  await free.say(USER);
  const { gate, session, say } = await chat([{ amount: 40 }], { pay: rule }, undefined, tool);
  await say(USER);
  const [question] = await engine.pending();
  await engine.approve(question?.id ?? "", { by: ana });
  const resumption = await gate.resume(await session());
  if (!resumption.ready) throw new Error("It waits.");
  await say(resumption.newMessage);
  expect(ran).toEqual([judged[0], question?.args]);
  expect(heard).toContain("Paid.");
});

test("arguments that do not fit the tool are told to the model, and nobody is asked", async () => {
  const { say } = await chat([{ amount: "much" }], { pay: true });
  await say(USER);
  expect(heard).toContain("amount");
  expect(await engine.pending()).toEqual([]);
});

test("a call that was withdrawn does not run, and the model hears why", async () => {
  const { gate, session, say } = await chat([{ amount: 40 }], { pay: true });
  await say(USER);
  expect(await gate.cancel("s1", "the user moved on")).toBe(1);
  await say(pressed(await session(), true));
  expect(heard).toContain("the user moved on");
  expect(ran).toEqual([]);
});

test("a session whose user has said something else has nothing to resume", async () => {
  const { gate, session, say } = await chat([{ amount: 40 }], { pay: true });
  await say(USER);
  await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
  const { events, ...rest } = await session();
  const later = { id: "e", author: "user", content: { parts: [{ text: "Never mind." }] } };
  expect(await gate.resume({ ...rest, events: [...events, later] })).toEqual({ ready: false, waiting: [] });
  expect(await gate.resume({ ...rest, events })).toMatchObject({ ready: true });
});
