import { PROOF_HEADER } from "../../../src/client/index.ts";
import { type AppOptions, type AuthOptions, createApp, createAuth, Tokens } from "../../../src/http/index.ts";
import { type NodeServer, serve } from "../../../src/http/node/index.ts";
import { Agent, createEngine, type Ledger, Runner, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import type { Resources } from "../resources.ts";

/** A server with a login, on a port of its own. */
export interface Served {
  readonly url: string;
  readonly ledger: Ledger;
  readonly tokens: Tokens;
  /** A request with these headers; a body is sent as JSON, unless a type is named. */
  send(path: string, init?: Sent): Promise<Response>;
  /** The whole credential of a new token. */
  tokenFor(
    user: string,
    scopes?: Parameters<Tokens["create"]>[0]["scopes"],
    roles?: readonly string[],
  ): Promise<string>;
}

export interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServedOptions extends Omit<AuthOptions, "ledger" | "publicUrl"> {
  readonly ledger?: string;
  /** What browsers call it; its own address if nothing is said. */
  readonly publicUrl?: string;
  readonly app?: Omit<AppOptions, "apps" | "auth" | "publicUrl">;
}

/** Serves one agent, `desk`, whose tool `pay` asks whoever told it to. */
export async function startServed(resources: Resources, options: ServedOptions): Promise<Served> {
  const { ledger: url = "memory:", app: appOptions, publicUrl, ...authOptions } = options;
  const engine = await createEngine({ ledger: url });
  resources.add(() => engine.close());
  const runner = new Runner({ agent: servedAgent(), engine });
  resources.add(() => runner.close());
  const ready = Promise.withResolvers<ReturnType<typeof createApp>>();
  const server: NodeServer = await serve({
    app: {
      fetch: async (request, bindings) => (await ready.promise).fetch(request, bindings),
    },
    port: 0,
  });
  resources.add(() => server.close({ graceMs: 0 }));
  const address = publicUrl ?? server.url;
  const auth = await createAuth({ ...authOptions, ledger: engine.ledger, publicUrl: address });
  ready.resolve(createApp({ ...appOptions, apps: { desk: runner }, auth, publicUrl: address }));
  const tokens = new Tokens(engine.ledger.items);
  return {
    url: server.url,
    ledger: engine.ledger,
    tokens,
    send: (path, sent) => sendTo(server.url, path, sent),
    tokenFor: async (user, scopes = ["run", "read", "decide"], roles = []) =>
      (await tokens.create({ user, roles, scopes, createdBy: "local:test" })).secret,
  };
}

async function sendTo(
  url: string,
  path: string,
  { method, body, headers = {} }: Sent = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    redirect: "manual",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** What a page of this server sends of the login that an answer began: the cookie, and its proof. */
export async function loginIn(answer: Response): Promise<Record<string, string>> {
  const { proof = "" } = (await answer.clone().json()) as { readonly proof?: string };
  return { cookie: cookiesOf(answer), [PROOF_HEADER]: proof };
}

/** What a browser would send back of the cookies that an answer sets. */
export function cookiesOf(answer: Response): string {
  const pairs = answer.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  return pairs.filter((pair) => !pair.endsWith("=")).join("; ");
}

function servedAgent(): Agent {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    parameters: { type: "object", properties: { amount: { type: "number" } } },
    requireConfirmation: true,
    execute: async () => ({ paid: true }),
  });
  const model = scripted(({ contents }) => {
    const last = contents.at(-1)?.parts.at(-1);
    if (last?.functionResponse !== undefined) return "Done.";
    return [{ functionCall: { name: "pay", args: { amount: 5 } } }];
  });
  return new Agent({ name: "desk", model, instruction: "Pay.", tools: [pay] });
}
