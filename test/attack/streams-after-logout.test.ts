import { expect, test } from "vitest";
import { createA2aApp } from "../../src/a2a/index.ts";
import { createApp } from "../../src/http/index.ts";
import { Agent, type JsonObject, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };

/** A server with a login of its host, where ana may lose her login or her rights. */
function start() {
  let scopes: readonly ("run" | "read" | "decide")[] | undefined = ["run", "read", "decide"];
  const released = Promise.withResolvers<void>();
  const any = { type: "object", properties: {} } as const;
  const about = { description: "Does it.", parameters: any };
  const agent = new Agent({
    name: "desk",
    model: scripted(({ contents }) => {
      const { functionResponse, text = "" } = contents.at(-1)?.parts[0] ?? {};
      return functionResponse === undefined ? [{ functionCall: { name: text, args: {} } }] : "secret";
    }),
    tools: [
      tool({ ...about, name: "pay", requireConfirmation: true, execute: async () => "paid" }),
      tool({ ...about, name: "linger", execute: async () => released.promise.then(() => "done") }),
    ],
  });
  const runner = new Runner({ agent, ledger: "memory:" });
  resources.add(() => runner.close());
  resources.add(async () => released.resolve());
  const apps = { desk: runner };
  const app = createApp({
    apps,
    mounts: [createA2aApp({ apps, security: "bearer" })],
    authenticate: () => (scopes === undefined ? undefined : { id: "ana", scopes }),
    feed: { recheckMs: 20 },
  });
  const send = (path: string, body: unknown): Promise<Response> =>
    app.fetch(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: HEADERS,
        body: JSON.stringify(body),
      }),
    );
  const rpc = (method: string, params: JsonObject): Promise<Response> =>
    send("/a2a/desk", { jsonrpc: "2.0", id: 1, method, params });
  return {
    send,
    rpc,
    logOut: () => void (scopes = undefined),
    becomeReader: () => void (scopes = ["read"]),
  };
}

type Server = ReturnType<typeof start>;

function messageOf(text: string): JsonObject {
  return { messageId: "m1", role: "ROLE_USER", parts: [{ text }] };
}

const STREAMS: readonly (readonly [string, (server: Server) => Promise<Response>])[] = [
  [
    "a task that waits, over A2A",
    async ({ rpc }) => {
      const asked = await (await rpc("SendMessage", { message: messageOf("pay") })).json();
      const { result } = asked as { readonly result: { readonly task: { readonly id: string } } };
      return rpc("SubscribeToTask", { id: result.task.id });
    },
  ],
  ["a task that runs, over A2A", ({ rpc }) => rpc("SendStreamingMessage", { message: messageOf("linger") })],
  [
    "a run, over the ADK's route",
    async ({ send }) => {
      await send("/apps/desk/users/ana/sessions/s1", {});
      const newMessage = { role: "user", parts: [{ text: "linger" }] };
      return send("/run_sse", { appName: "desk", userId: "ana", sessionId: "s1", newMessage });
    },
  ],
  [
    "a run, over AG-UI",
    ({ send }) => {
      const messages = [{ id: "m1", role: "user", content: "linger" }];
      const rest = { state: {}, tools: [], context: [], forwardedProps: {} };
      return send("/agui/desk", { threadId: "t1", runId: "r1", messages, ...rest });
    },
  ],
];

test.each(STREAMS)("the stream of %s ends soon after the reader's login", async (_, open) => {
  for (const lose of ["logOut", "becomeReader"] as const) {
    const server = start();
    const response = await open(server);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    server[lose]();
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {}
  }
});
