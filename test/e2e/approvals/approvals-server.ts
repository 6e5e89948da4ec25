import { createApp } from "../../../src/http/app.ts";
import type { App, AppOptions } from "../../../src/http/index.ts";
import {
  Agent,
  type Confirmation,
  createEngine,
  type Engine,
  type JsonObject,
  OutcomeUnknown,
  type PrincipalInput,
  Runner,
  type Tool,
  tool,
} from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import type { Part } from "../../../src/protocol/index.ts";
import type { Resources } from "../../support/resources.ts";

/** People as the host's login knows them, by the word in their Authorization header. */
export const PEOPLE: Readonly<Record<string, PrincipalInput>> = {
  ana: { id: "ana" },
  bob: { id: "bob" },
  meg: { id: "meg", roles: ["manager"] },
  max: { id: "max", roles: ["manager"] },
  root: { id: "root", scopes: ["read", "admin"] },
  watcher: { id: "ana", scopes: ["read"] },
  agent: { id: "ana", kind: "agent" },
  bot: { id: "bot", kind: "agent", scopes: ["propose"] },
  bot2: { id: "bot2", kind: "agent", scopes: ["propose"] },
  proxy: { id: "proxy", kind: "agent", scopes: ["propose", "act-as"] },
};

export type Person = string;

export interface ApprovalsServer {
  readonly app: App;
  readonly engine: Engine;
  readonly runner: Runner;
  /** What the tools did, in order. */
  readonly done: { readonly tool: string; readonly args: JsonObject }[];
  /** Sends a request as somebody; the body is JSON. */
  ask(
    person: Person,
    method: string,
    path: string,
    ...sent: [body?: unknown, headers?: Record<string, string>]
  ): Promise<Answer>;
  /** Has a user ask for calls, as in `pay 5`, in one turn; gives what then waits. */
  say(user: string, text: string, session?: string): Promise<readonly Confirmation[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: JsonObject;
}

export interface ApprovalsServerOptions {
  readonly ledger?: string;
  readonly engine?: Partial<Parameters<typeof createEngine>[0]>;
  readonly app?: Partial<AppOptions>;
  /** The name of the app that is hosted here. */
  readonly name?: string;
  /** How often `lose` and `look` lose their outcome before they work; every time if nothing is said. */
  readonly losses?: number;
  /** What the model gives `login` as its password; what it was told if nothing is said. */
  readonly password?: string;
}

/** A server in this process, on a ledger of its own unless one is named. */
export async function startApprovalsServer(
  resources: Resources,
  options: ApprovalsServerOptions = {},
): Promise<ApprovalsServer> {
  const engine = await createEngine({ ledger: options.ledger ?? "memory:", ...options.engine });
  resources.add(() => engine.close());
  const done: { tool: string; args: JsonObject }[] = [];
  const { name = "bank" } = options;
  const model = scripted(({ contents }) => {
    const last = contents.at(-1)?.parts ?? [];
    const text = last.find((part) => part.text !== undefined)?.text ?? "";
    if (last.some(({ functionResponse }) => functionResponse !== undefined)) return "done";
    const calls = text.split(" and ").flatMap((words) => toCall(words, options.password));
    return calls.length === 0 ? `You said: ${text}` : calls;
  });
  const agent = new Agent({ name, model, instruction: "", tools: toolsOf(done, options) });
  const runner = new Runner({ agent, engine });
  const app = createApp({
    apps: { [name]: runner },
    authenticate: (request) => PEOPLE[request.headers.get("authorization") ?? ""],
    limits: { requestsPerMinute: Number.POSITIVE_INFINITY },
    ...options.app,
  });
  resources.add(() => app.drain());
  return {
    app,
    engine,
    runner,
    done,
    ask: async (person, method, path, ...[body, headers = {}]) => {
      const response = await app.fetch(toRequest(person, method, path, { body, headers }));
      const text = await response.text();
      const json = (text === "" ? {} : JSON.parse(text)) as Answer["json"];
      return { status: response.status, headers: response.headers, json };
    },
    say: async (user, text, session) => {
      const turn = await runner.send(text, { user, ...(session === undefined ? {} : { session }) });
      return turn.pending;
    },
  };
}

/** A member of an answer that must be a text; empty where there is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function toRequest(
  person: string,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Request {
  return new Request(`http://127.0.0.1${path}`, {
    method,
    headers: {
      authorization: person,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function toCall(words: string, password?: string): Part[] {
  const [, name, value] = /^(pay|transfer|vault|login|lose|look) (\S+)$/.exec(words.trim()) ?? [];
  if (name === undefined || value === undefined) return [];
  const args = { amount: Number(value) };
  if (name === "login")
    return [{ functionCall: { name, args: { user: "ana", password: password ?? value } } }];
  if (name === "look") return [{ functionCall: { name, args: { ...args, pin: password ?? "4711" } } }];
  return [{ functionCall: { name, args } }];
}

const AMOUNT = { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] };

function toolsOf(
  done: { tool: string; args: JsonObject }[],
  { losses = Number.POSITIVE_INFINITY }: ApprovalsServerOptions,
): Tool[] {
  let lost = 0;
  const doing = (name: string) => (args: JsonObject) => {
    done.push({ tool: name, args });
    return { ok: true };
  };
  const losing = (name: string) => (args: JsonObject) => {
    done.push({ tool: name, args });
    if (lost >= losses) return { ok: true };
    lost += 1;
    throw new OutcomeUnknown("the line went dead");
  };
  return [
    tool({
      name: "pay",
      description: "Pays.",
      parameters: AMOUNT,
      requireConfirmation: true,
      amendable: true,
      execute: doing("pay"),
    }),
    tool({
      name: "transfer",
      description: "Transfers.",
      parameters: AMOUNT,
      requireConfirmation: true,
      approvers: { roles: ["manager"], notRequester: true },
      execute: doing("transfer"),
    }),
    tool({
      name: "vault",
      description: "Opens the vault.",
      parameters: AMOUNT,
      requireConfirmation: true,
      approvers: { roles: ["manager"] },
      execute: doing("vault"),
    }),
    tool({
      name: "login",
      description: "Logs in.",
      parameters: { type: "object", properties: { user: { type: "string" }, password: { type: "string" } } },
      requireConfirmation: true,
      secrets: ["/password"],
      execute: doing("login"),
    }),
    tool({
      name: "lose",
      description: "Loses.",
      parameters: AMOUNT,
      requireConfirmation: true,
      execute: losing("lose"),
    }),
    tool({
      name: "look",
      description: "Looks.",
      parameters: AMOUNT,
      secrets: ["/pin"],
      execute: losing("look"),
    }),
  ];
}
