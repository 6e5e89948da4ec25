import { join } from "node:path";
import { ensureWebBuilt } from "../../../scripts/build-web.ts";
import { OutcomeUnknown, toConfirmation } from "../../../src/engine/index.ts";
import type { Clock } from "../../../src/engine.ts";
import {
  type AppOptions,
  type AuthOptions,
  createApp,
  createAuth,
  type Mount,
  type Scope,
  Tokens,
} from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import {
  Agent,
  agentTool,
  askUser,
  type Confirmation,
  createEngine,
  type Engine,
  type JsonObject,
  type Model,
  type Policy,
  Runner,
  type Tool,
  type Toolset,
  tool,
} from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import type { Resources } from "../resources.ts";

/** A call that the model is told to make. */
export interface WantedCall {
  readonly name: string;
  readonly args: JsonObject;
}

/** A real server with the built inbox, on SQLite, whose agent makes the calls it is told to make. */
export interface InboxServer {
  readonly url: string;
  readonly engine: Engine;
  readonly runner: Runner;
  /** Every body that was entered, in order. */
  readonly ran: readonly WantedCall[];
  /** From now on, the agent makes these calls when it is told these words. */
  teach(words: string, ...calls: readonly WantedCall[]): void;
  /** Has the agent make these calls at once; gives the ids of what waits then. */
  ask(user: string, ...calls: readonly WantedCall[]): Promise<readonly string[]>;
  /** A confirmation as the ledger has it. */
  look(id: string): Promise<Confirmation>;
  /** The server goes away, its ledger stays. */
  stop(): Promise<void>;
  /** The server comes back at the same address. */
  start(): Promise<void>;
  /** A token's whole secret. */
  tokenFor(
    user: string,
    options?: { readonly roles?: readonly string[]; readonly scopes?: readonly Scope[] },
  ): Promise<string>;
}

export interface InboxServerOptions {
  readonly mode?: AuthOptions["mode"];
  readonly oidc?: NonNullable<AuthOptions["oidc"]>;
  /** Instead of the office's. */
  readonly agent?: Agent;
  /** Instead of the one that makes the calls it is told to make. */
  readonly model?: Model;
  /** Beside the server's own. */
  readonly tools?: readonly (Tool | Toolset)[];
  readonly clock?: Clock;
  readonly policy?: Policy;
  readonly app?: Omit<AppOptions, "apps" | "auth" | "publicUrl">;
  readonly ids?: (now: number) => string;
  /** Servers of other protocols beside the inbox. */
  readonly mounts?: (engine: Engine) => readonly Mount[];
  readonly examplePrompts?: readonly string[];
  /** Before it is opened, fills the ledger that this file will be. */
  readonly fill?: (file: string) => Promise<void>;
}

// The app wants to know its own address, which there is only once the server listens.
const NOT_YET = { fetch: async () => new Response(null, { status: 503 }), drain: () => {}, leave: () => {} };
const USUAL: readonly Scope[] = ["run", "read", "decide"];

export async function startInboxServer(
  resources: Resources,
  options: InboxServerOptions = {},
): Promise<InboxServer> {
  ensureWebBuilt();
  const { mode = "none", clock, ids, oidc, policy } = options;
  const file = join(await resources.folder(), "office.db");
  await options.fill?.(file);
  const ledger = `sqlite:${file}`;
  const engine = await createEngine({
    ledger,
    ...(clock === undefined ? {} : { clock }),
    ...(policy === undefined ? {} : { policy }),
    ...(ids === undefined ? {} : { newId: ids }),
  });
  resources.add(() => engine.close());
  const ran: WantedCall[] = [];
  const wishes: Wishes = new Map();
  const model = options.model ?? obedient(wishes);
  const runner = new Runner({
    agent: options.agent ?? inboxAgent(ran, { ...options, model }),
    app: "office",
    engine,
  });
  resources.add(() => runner.close());
  let app: ReturnType<typeof createApp> = NOT_YET;
  const listen = (port: number): ReturnType<typeof serve> =>
    serve({ app: { fetch: (request, bindings) => app.fetch(request, bindings) }, port });
  let server = await listen(0);
  const { url } = server;
  resources.add(() => server.close({ graceMs: 0 }));
  const auth = await createAuth({
    mode,
    ledger: engine.ledger,
    publicUrl: url,
    ...(oidc === undefined ? {} : { oidc }),
  });
  const mounts = options.mounts?.(engine) ?? [];
  app = createApp({ ...options.app, apps: { office: runner }, auth, publicUrl: url, mounts });
  const tokens = new Tokens(engine.ledger.items);
  return {
    url,
    engine,
    runner,
    ran,
    teach: (words, ...calls) => {
      wishes.set(words, calls);
    },
    ask: async (user, ...calls) => {
      const turn = await runner.send(JSON.stringify(calls), { user });
      return turn.pending.map(({ id }) => id);
    },
    look: async (id) => {
      const found = await engine.ledger.load({ confirmation: id });
      if (found?.confirmation === undefined || found.call === undefined)
        throw new Error(`There is no ${id}.`);
      return toConfirmation({ confirmation: found.confirmation, call: found.call, session: found.session });
    },
    stop: () => server.close({ graceMs: 0 }),
    start: async () => {
      server = await listen(Number(new URL(url).port));
    },
    tokenFor: async (user, { roles = [], scopes = USUAL } = {}) =>
      (await tokens.create({ user, roles, scopes, createdBy: "local:test" })).secret,
  };
}

type Wishes = Map<string, readonly WantedCall[]>;

/** Makes the calls that it was taught, or that the message lists as JSON; else says it back; tells what its tools answered. */
function obedient(wishes: Wishes): Model {
  return scripted(({ contents }) => {
    const parts = contents.at(-1)?.parts ?? [];
    const answers = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    if (answers.length > 0)
      return answers.map(({ name, response }) => `${name}: ${JSON.stringify(response)}`).join("; ");
    const text = parts.map((part) => part.text ?? "").join("");
    const calls = wishes.get(text) ?? (text.startsWith("[") ? (JSON.parse(text) as WantedCall[]) : undefined);
    return calls?.map((functionCall) => ({ functionCall })) ?? `You said: ${text}`;
  });
}

function inboxAgent(
  ran: WantedCall[],
  { model, tools = [], examplePrompts = [] }: InboxServerOptions & { readonly model: Model },
): Agent {
  const does =
    (name: string) =>
    (args: JsonObject): JsonObject => {
      ran.push({ name, args });
      return { status: "ok" };
    };
  const any = { type: "object", properties: {} } as const;
  const gated = { description: "Does it.", parameters: any, requireConfirmation: true } as const;
  const clerk = new Agent({
    name: "clerk",
    description: "Files things.",
    model: scripted(({ contents }) => {
      const last = contents.at(-1)?.parts.at(-1);
      if (last?.functionResponse !== undefined) return "Filed.";
      return [{ functionCall: { name: "file_report", args: { title: "Q3 audit", pages: 12 } } }];
    }),
    instruction: "File it.",
    tools: [tool({ ...gated, name: "file_report", execute: does("file_report") })],
  });
  return new Agent({
    examplePrompts,
    name: "assistant",
    model,
    instruction: "Obey.",
    tools: [
      ...tools,
      askUser(),
      tool({
        ...gated,
        name: "reimburse",
        description: "Reimburses an expense.",
        confirmationHint: ({ amount, purpose }: JsonObject) =>
          `Pay out ${JSON.stringify(amount)} EUR for ${JSON.stringify(purpose)}?`,
        expiresInMs: 3_600_000,
        execute: does("reimburse"),
      }),
      tool({ ...gated, name: "send_email", execute: does("send_email") }),
      tool({ ...gated, name: "tag", idempotent: true, execute: does("tag") }),
      tool({
        ...gated,
        name: "wire_money",
        approvers: { roles: ["treasurer"], notRequester: true },
        confirmationLayout: { hold: true },
        execute: does("wire_money"),
      }),
      tool({
        ...gated,
        name: "delete_backup",
        confirmationLayout: { hold: true },
        execute: does("delete_backup"),
      }),
      tool({
        ...gated,
        name: "edit_file",
        confirmationLayout: { diff: { before: "old_text", after: "new_text" } },
        execute: does("edit_file"),
      }),
      tool({
        ...gated,
        name: "order",
        parameters: {
          type: "object",
          properties: { item: { type: "string" }, quantity: { type: "integer", minimum: 1 } },
          required: ["item", "quantity"],
        },
        amendable: ["quantity"],
        execute: does("order"),
      }),
      tool({
        ...gated,
        name: "grant_leave",
        confirmationPayload: {
          type: "object",
          properties: {
            approvedDays: { type: "integer", title: "Approved days", minimum: 0 },
            paid: { type: "boolean" },
            kind: { enum: ["vacation", "study"] },
          },
          required: ["approvedDays", "kind"],
        },
        execute: (args, context) => {
          ran.push({ name: "grant_leave", args });
          return { granted: (context.toolConfirmation?.payload ?? null) as JsonObject };
        },
      }),
      tool({
        ...gated,
        name: "request_time_off",
        requireConfirmation: false,
        execute: (args: JsonObject, context) => {
          const answer = context.toolConfirmation;
          if (answer === undefined) {
            context.requestConfirmation({ hint: "How many days?", payload: { approved_days: 0 } });
            return undefined;
          }
          ran.push({ name: "request_time_off", args });
          return { granted: answer.payload ?? null };
        },
      }),
      tool({
        ...gated,
        name: "explode",
        execute: () => {
          throw new OutcomeUnknown("The connection was lost after the request was sent.");
        },
      }),
      tool({
        ...gated,
        name: "vanish",
        requireConfirmation: false,
        execute: () => {
          throw new OutcomeUnknown("The connection was lost after the request was sent.");
        },
      }),
      agentTool(clerk),
    ],
  });
}
