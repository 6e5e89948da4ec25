import { A2A_VERSION_HEADER, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import { createA2aApp } from "../../../src/a2a/index.ts";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import {
  Agent,
  agentTool,
  askUser,
  createEngine,
  type Engine,
  type JsonObject,
  OutcomeUnknown,
  type Policy,
  type PrincipalInput,
  Runner,
  tool,
} from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { KAGENT_HITL_EXTENSION } from "../../../src/protocol/index.ts";
import type { Resources } from "../../support/resources.ts";

/** A call that the model is told to make. */
export interface WantedCall {
  readonly id?: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** A real A2A server on a port of its own, whose agent makes the calls it is told to make. */
export interface A2aServer {
  readonly url: string;
  readonly engine: Engine;
  readonly runner: Runner;
  /** Every body that was entered, in order. */
  readonly ran: readonly WantedCall[];
  /** What it was asked over A2A, by method, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface A2aServerOptions {
  readonly ledger?: string;
  /** Callers say who they are, and are believed: `authorization: Bearer <JSON of a principal>`. */
  readonly login?: boolean;
  readonly decisions?: boolean;
  /** A tool `hold` waits for this. */
  readonly held?: Promise<unknown>;
  readonly policy?: Policy;
}

export async function startA2aServer(
  resources: Resources,
  options: A2aServerOptions = {},
): Promise<A2aServer> {
  const { ledger = "memory:", login = false, decisions, held = Promise.resolve(), policy } = options;
  const engine = await createEngine({
    ledger,
    leaseMs: 2_000,
    heartbeatMs: 500,
    ...(policy === undefined ? {} : { policy }),
  });
  const ran: WantedCall[] = [];
  const runner = new Runner({ agent: scriptedAgent(ran, held), engine });
  const worker = runner.work();
  const a2a = createA2aApp({
    apps: { desk: runner },
    ...(decisions === undefined ? {} : { decisions }),
    security: login ? "bearer" : "none",
  });
  const app = createApp({
    apps: { desk: runner },
    mounts: [a2a],
    ...(login ? { authenticate: claimed } : {}),
  });
  const asked: string[] = [];
  const noted = async (request: Request): Promise<void> => {
    if (request.method !== "POST" || !request.url.includes("/a2a/")) return;
    const text = await request.clone().text();
    asked.push(...(/"method":"(\w+)"/.exec(text)?.slice(1) ?? []));
  };
  const noting: typeof app = {
    ...app,
    fetch: async (request, bindings) => {
      await noted(request);
      return app.fetch(request, bindings);
    },
  };
  const server = await serve({ app: noting, port: 0 });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 0 });
    await worker.stop();
    await runner.close();
    await engine.close();
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  resources.add(closeOnce);
  return { url: `${server.url}/a2a/desk`, engine, runner, ran, asked, close: closeOnce };
}

function claimed(request: Request): PrincipalInput | undefined {
  const [, text] = /^Bearer (.*)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  return text === undefined ? undefined : (JSON.parse(text) as PrincipalInput);
}

/** Makes the calls that the message lists as JSON; else says it back; tells what its tools answered. */
const obedient = scripted(({ contents }) => {
  const parts = contents.at(-1)?.parts ?? [];
  const answers = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  if (answers.length > 0)
    return answers.map(({ name, response }) => `${name}: ${JSON.stringify(response)}`).join("; ");
  const text = parts.map((part) => part.text ?? "").join("");
  if (text === "fail") throw new Error("scripted failure");
  if (!text.startsWith("[")) return `You said: ${text}`;
  return (JSON.parse(text) as readonly WantedCall[]).map((functionCall) => ({ functionCall }));
});

export function scriptedAgent(ran: WantedCall[], held: Promise<unknown> = Promise.resolve()): Agent {
  const does =
    (name: string) =>
    async (args: JsonObject): Promise<JsonObject> => {
      ran.push({ name, args });
      return { status: "ok" };
    };
  const any = { type: "object", properties: {} } as const;
  const gated = { description: "Does it.", parameters: any, requireConfirmation: true } as const;
  const clerk = new Agent({
    name: "clerk",
    model: scripted(({ contents }) => {
      const last = contents.at(-1)?.parts.at(-1);
      if (last?.functionResponse !== undefined) return "Filed.";
      return [{ functionCall: { id: "inner-1", name: "file_report", args: { title: "Q3" } } }];
    }),
    tools: [tool({ ...gated, name: "file_report", execute: does("file_report") })],
  });
  return new Agent({
    name: "desk",
    description: "Manages files.",
    model: obedient,
    tools: [
      tool({ ...gated, name: "delete_file", secrets: ["/token"], execute: does("delete_file") }),
      tool({ ...gated, name: "write_file", execute: does("write_file") }),
      tool({
        ...gated,
        name: "wire_money",
        approvers: { roles: ["treasurer"] },
        execute: does("wire_money"),
      }),
      tool({ description: "Reads.", parameters: any, name: "read_file", execute: does("read_file") }),
      tool({
        ...gated,
        name: "twice",
        requireConfirmation: false,
        execute: async (_, ctx) => {
          await ctx.confirm("first");
          await ctx.confirm("second");
          ran.push({ name: "twice", args: {} });
          return { status: "ok" };
        },
      }),
      tool({
        ...gated,
        name: "hold",
        execute: async (args) => {
          ran.push({ name: "hold", args });
          await held;
          return { status: "ok" };
        },
      }),
      tool({
        description: "Takes its time.",
        parameters: any,
        name: "linger",
        execute: async (args) => {
          ran.push({ name: "linger", args });
          await held;
          return { status: "ok" };
        },
      }),
      tool({
        ...gated,
        name: "lose",
        execute: async () => {
          throw new OutcomeUnknown("The line went dead.");
        },
      }),
      askUser(),
      agentTool(clerk),
    ],
  });
}

/** How a client speaks. */
export interface Speech {
  readonly version?: "1.0" | "0.3";
  /** Opts in to the extension. */
  readonly hitl?: boolean;
  readonly as?: PrincipalInput;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The wire itself: JSON-RPC in, JSON-RPC out, in either version's spelling. */
export class Wire {
  readonly url: string;
  readonly #speech: Required<Pick<Speech, "version" | "hitl">> & Speech;
  #sent = 0;

  constructor({ url }: Pick<A2aServer, "url">, speech: Speech = {}) {
    this.url = url;
    this.#speech = { version: "1.0", hitl: false, ...speech };
  }

  get isOld(): boolean {
    return this.#speech.version === "0.3";
  }

  get headers(): Record<string, string> {
    const { version, hitl, as, headers } = this.#speech;
    const extensions = version === "0.3" ? "X-A2A-Extensions" : HTTP_EXTENSION_HEADER;
    return {
      "content-type": "application/json",
      ...(version === "1.0" ? { [A2A_VERSION_HEADER]: version } : {}),
      ...(hitl ? { [extensions]: KAGENT_HITL_EXTENSION } : {}),
      ...(as === undefined ? {} : { authorization: `Bearer ${JSON.stringify(as)}` }),
      ...headers,
    };
  }

  async post(method: string, params: unknown, signal?: AbortSignal): Promise<Response> {
    this.#sent += 1;
    return fetch(this.url, {
      method: "POST",
      headers: this.headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#sent, method, params }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async call(method: string, params: unknown): Promise<RpcAnswer> {
    return (await (await this.post(method, params)).json()) as RpcAnswer;
  }

  /** Sends a message and waits until the task stands still. */
  async send(message: JsonObject, configuration: JsonObject = {}): Promise<RpcAnswer> {
    const blocking = this.isOld ? { blocking: true } : {};
    const params = { message: this.message(message), configuration: { ...blocking, ...configuration } };
    const answer = await this.call(this.isOld ? "message/send" : "SendMessage", params);
    const { task } = (answer.result ?? {}) as { readonly task?: WireTask };
    return task === undefined ? answer : { result: task };
  }

  async say(text: string, more: JsonObject = {}): Promise<RpcAnswer> {
    return this.send({ ...more, parts: [this.text(text)] });
  }

  /** Has the agent make these calls; gives the task, which waits or is over. */
  async order(...calls: readonly WantedCall[]): Promise<WireTask> {
    return taskIn(await this.say(JSON.stringify(calls)));
  }

  async get(id: string, more: JsonObject = {}): Promise<RpcAnswer> {
    return this.call(this.isOld ? "tasks/get" : "GetTask", { id, ...more });
  }

  /** An answer by the extension. */
  async answer(task: WireTask, payload: unknown, more: JsonObject = {}): Promise<RpcAnswer> {
    return this.send({
      taskId: task.id,
      contextId: task.contextId,
      extensions: [KAGENT_HITL_EXTENSION],
      metadata: { [KAGENT_HITL_EXTENSION]: payload } as JsonObject,
      parts: [this.text("Decided")],
      ...more,
    });
  }

  /** An answer in the older form. */
  async decide(task: WireTask, data: JsonObject, more: JsonObject = {}): Promise<RpcAnswer> {
    return this.send({ taskId: task.id, contextId: task.contextId, parts: [this.data(data)], ...more });
  }

  /** The events of a streaming call, until it ends or `until` says so. */
  async *stream(method: string, params: unknown, signal?: AbortSignal): AsyncGenerator<JsonObject> {
    const answer = await this.post(method, params, signal);
    if (!/event-stream/.test(answer.headers.get("content-type") ?? "")) {
      yield (await answer.json()) as JsonObject;
      return;
    }
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const line = text.slice(0, end).replace(/^(?:event: error\n)?data: /, "");
        text = text.slice(end + 2);
        yield JSON.parse(line) as JsonObject;
      }
    }
  }

  message(message: JsonObject): JsonObject {
    const id = `m-${crypto.randomUUID()}`;
    return this.isOld
      ? { kind: "message", messageId: id, role: "user", ...message }
      : { messageId: id, role: "ROLE_USER", ...message };
  }

  text(text: string): JsonObject {
    return this.isOld ? { kind: "text", text } : { text };
  }

  data(data: JsonObject, metadata?: JsonObject): JsonObject {
    const about = metadata === undefined ? {} : { metadata };
    return this.isOld ? { kind: "data", data, ...about } : { data, ...about };
  }
}

export interface WireMessage {
  readonly messageId: string;
  readonly role: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly parts: readonly {
    readonly text?: string;
    readonly data?: JsonObject;
    readonly metadata?: JsonObject;
  }[];
  readonly extensions?: readonly string[];
  readonly metadata?: { readonly [uri: string]: JsonObject };
}

export interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: WireMessage; readonly timestamp: string };
  readonly history?: readonly WireMessage[];
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}

export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: readonly JsonObject[] };
}

export function taskIn({ result, error }: RpcAnswer): WireTask {
  if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
  return result as WireTask;
}

/** Where a task stands, in one word, whatever version told it. */
export function stateOf({ status }: WireTask): string {
  return status.state
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

/** The extension's payload in a task's status. */
export function payloadOf({ status }: WireTask): JsonObject {
  return status.message?.metadata?.[KAGENT_HITL_EXTENSION] ?? {};
}

/** What the agent said. */
export function saidIn({ artifacts = [] }: WireTask): string {
  return artifacts.flatMap(({ parts }) => parts.map(({ text = "" }) => text)).join("");
}

/** The ids that are asked, in order, in whichever form. */
export function askedIn(task: WireTask): readonly string[] {
  const { tools, id } = payloadOf(task) as { tools?: readonly { id: string }[]; id?: string };
  if (tools !== undefined) return tools.map((one) => one.id);
  if (id !== undefined) return [id];
  return (task.status.message?.parts ?? []).flatMap(({ data }) =>
    typeof data?.["id"] === "string" ? [data["id"]] : [],
  );
}

/** An approval of everything that the task asks. */
export function approvalOf(task: WireTask, approved = true): JsonObject {
  return { type: "tool_approval_response", approvals: askedIn(task).map((id) => ({ id, approved })) };
}
