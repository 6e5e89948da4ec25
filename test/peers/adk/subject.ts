import {
  BaseLlm,
  type BaseLlmConnection,
  type Event,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  Runner,
  type Session,
  StreamingMode,
} from "@google/adk";
import { type AdkGate, createGate } from "../../../src/adapters/google-adk/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type AdapterSubject,
  FIRST_WORDS,
  LAST_WORDS,
  type ModelCall,
  ORDER_DESCRIPTION,
  ORDER_INPUT,
  ORDER_RULE,
  PAY_RULE,
  type Progress,
  type Seen,
  TRANSFER_DESCRIPTION,
  TRANSFER_INPUT,
  type World,
} from "../../adapters/contract/subject.ts";

/** Google's ADK: the events of a session as its state. */
export const subject: AdapterSubject = { name: "google-adk", open: (world) => new AdkHost(world) };

/** The only session of a service. */
export const SESSION = { appName: "shop", userId: "user", sessionId: "s" };
export const PAY = {
  type: "OBJECT",
  properties: { amount: { type: "NUMBER" }, to: { type: "STRING" }, hang: { type: "BOOLEAN" } },
  required: ["amount"],
};

type Told = Record<string, string>;
export type Message = Parameters<Runner["runAsync"]>[0]["newMessage"];

class AdkHost implements AdapterHost {
  readonly #world: World;
  readonly #gate: AdkGate;

  constructor(world: World) {
    this.#world = world;
    const { engine, app, thread } = world;
    // The thread is the server's, whatever a state says.
    this.#gate = createGate({ engine, app, identify: () => ({ thread }) });
  }

  async send(calls: readonly ModelCall[], state = "[]"): Promise<Progress> {
    return this.#run(await openSessions(state), { role: "user", parts: [{ text: "Pay." }] }, calls);
  }

  async resume(state: string): Promise<Progress> {
    const sessions = await openSessions(state);
    const resumption = await this.#gate.resume(await sessionOf(sessions));
    return resumption.ready
      ? this.#run(sessions, resumption.newMessage, [])
      : { state, status: "paused", told: {} };
  }

  async forge(state: string): Promise<Progress> {
    const sessions = await openSessions(state);
    return this.#run(sessions, confirmed((await sessionOf(sessions)).events), []);
  }

  cancel(reason: string): Promise<number> {
    return this.#gate.cancel(this.#world.thread, reason);
  }

  async #run(
    sessions: InMemorySessionService,
    newMessage: Message,
    calls: readonly ModelCall[],
  ): Promise<Progress> {
    const told: Told = {};
    const runner = new Runner({
      appName: SESSION.appName,
      agent: this.#agent(calls, told),
      sessionService: sessions,
    });
    const before = (await sessionOf(sessions)).events.length;
    const streams = this.#world.streams === true;
    const seen: Seen[] = [];
    for await (const event of runner.runAsync({
      userId: SESSION.userId,
      sessionId: SESSION.sessionId,
      newMessage,
      ...(streams ? { runConfig: { streamingMode: StreamingMode.SSE } } : {}),
    }))
      seen.push(...seenIn(event));
    const { events } = await sessionOf(sessions);
    const status = requests(events.slice(before)).length > 0 ? "paused" : "done";
    return { state: JSON.stringify(events), status, told, ...(streams ? { seen } : {}) };
  }

  #agent(calls: readonly ModelCall[], told: Told): LlmAgent {
    const { description, expiresInMs, few, noteOutside } = this.#world;
    const pay = new FunctionTool({
      name: "pay",
      description,
      parameters: PAY as never,
      execute: (input: unknown) => this.#world.pay(input as JsonObject),
    });
    const order = new FunctionTool({
      name: "order",
      description: ORDER_DESCRIPTION,
      parameters: ORDER_INPUT,
      execute: (input) => this.#world.pay(input),
    });
    const transfer = new FunctionTool({
      name: "transfer",
      description: TRANSFER_DESCRIPTION,
      parameters: TRANSFER_INPUT,
      execute: (input) => this.#world.pay(input as JsonObject),
    });
    const rule = { ...PAY_RULE, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
    return new LlmAgent({
      name: "cashier",
      model: new Scripted(calls, told),
      tools:
        few === true
          ? noteOutside === true
            ? [...this.#gate.tools([pay], { pay: rule }), noteTool()]
            : this.#gate.tools([pay, noteTool()], { pay: rule })
          : this.#gate.tools([pay, order, transfer, noteTool()], {
              pay: rule,
              order: ORDER_RULE,
              transfer: ORDER_RULE,
            }),
    });
  }
}

export function noteTool(): FunctionTool {
  return new FunctionTool({
    name: "note",
    description: "Notes a text.",
    parameters: { type: "OBJECT", properties: { text: { type: "STRING" } } } as never,
    execute: (input: unknown) => input,
  });
}

/** A service with a session that has these events. */
export async function openSessions(state: string): Promise<InMemorySessionService> {
  const sessions = new InMemorySessionService();
  const session = await sessions.createSession(SESSION);
  for (const event of JSON.parse(state) as Event[]) await sessions.appendEvent({ session, event });
  return sessions;
}

export async function sessionOf(sessions: InMemorySessionService): Promise<Session> {
  const session = await sessions.getSession(SESSION);
  if (session === undefined) throw new Error("There is no session.");
  return session;
}

/** What an ADK front end sends when somebody confirms everything. */
export function confirmed(events: readonly Event[]): { role: string; parts: object[] } {
  const parts = requests(events).map((id) => {
    const response = { confirmed: true };
    return { functionResponse: { id, name: "adk_request_confirmation", response } };
  });
  return { role: "user", parts };
}

/** The ids of the ADK's own requests for confirmation. */
export function requests(events: readonly Event[]): readonly string[] {
  const calls = events.flatMap(({ content }) => content?.parts ?? []).map(({ functionCall }) => functionCall);
  return calls.flatMap((call) => (call?.name === "adk_request_confirmation" ? [call.id ?? ""] : []));
}

/** The last event of an answer has its whole text again. */
function seenIn({ content, partial }: Event): readonly Seen[] {
  return (content?.parts ?? []).flatMap(({ text, functionCall, functionResponse }): readonly Seen[] => {
    if (text !== undefined) return partial === true ? [{ text }] : [];
    if (functionResponse !== undefined) return [{ result: functionResponse.id ?? "" }];
    if (functionCall?.name !== "adk_request_confirmation") return [{ call: functionCall?.id ?? "" }];
    const { originalFunctionCall } = functionCall.args as { originalFunctionCall: { id: string } };
    return [{ asked: originalFunctionCall.id }];
  });
}

/** Makes the calls when a user speaks, and answers with text when it gets results. */
export class Scripted extends BaseLlm {
  readonly #calls: readonly ModelCall[];
  readonly #told: Told;

  constructor(calls: readonly ModelCall[], told: Told) {
    super({ model: "scripted" });
    this.#calls = calls;
    this.#told = told;
  }

  override async *generateContentAsync(
    { contents }: LlmRequest,
    streams = false,
  ): AsyncGenerator<LlmResponse, void> {
    const asked = contents.findLastIndex(
      ({ role, parts }) => role === "user" && (parts?.some(({ text }) => text !== undefined) ?? false),
    );
    const answers = contents.slice(asked).flatMap(({ parts }) => parts ?? []);
    for (const { functionResponse } of answers)
      if (functionResponse?.id !== undefined)
        this.#told[functionResponse.id] = JSON.stringify(functionResponse.response);
    const calls = contents.length - 1 === asked ? this.#calls : [];
    const words = calls.length > 0 ? FIRST_WORDS : LAST_WORDS;
    if (streams)
      for (const text of words) yield { partial: true, content: { role: "model", parts: [{ text }] } };
    const said = streams || calls.length === 0 ? [{ text: words.join("") }] : [];
    const making = calls.map(({ id, tool, args }) => ({ functionCall: { id, name: tool, args } }));
    yield { content: { role: "model", parts: [...said, ...making] } };
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error("It does not stream.");
  }
}
