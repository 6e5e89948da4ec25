import { expect, test, vi } from "vitest";
import { createA2aApp } from "../../src/a2a/index.ts";
import { createApp } from "../../src/http/index.ts";
import { Agent, type JsonObject, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };

/** A server with many requests a minute, so that only what this is about limits anybody. */
function start() {
  const any = { type: "object", properties: {} } as const;
  const about = { description: "Pays.", parameters: any, requireConfirmation: true };
  const agent = new Agent({
    name: "desk",
    model: scripted(({ contents }) =>
      contents.at(-1)?.parts[0]?.functionResponse === undefined
        ? [{ functionCall: { name: "pay", args: {} } }]
        : "Done.",
    ),
    tools: [tool({ ...about, name: "pay", execute: async () => "paid" })],
  });
  const runner = new Runner({ agent, ledger: "memory:" });
  resources.add(() => runner.close());
  const apps = { desk: runner };
  const app = createApp({
    apps,
    mounts: [createA2aApp({ apps, security: "bearer" })],
    authenticate: ({ headers }) => ({
      id: headers.get("authorization") ?? "",
      scopes: ["run", "read", "propose", "decide"],
    }),
    limits: { requestsPerMinute: 100_000 },
  });
  const send = (as: string, path: string, body?: JsonObject): Promise<Response> =>
    app.fetch(
      new Request(`http://localhost${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { ...HEADERS, authorization: as },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  const rpc = (method: string, params: JsonObject): Promise<Response> =>
    send("eve", "/a2a/desk", { jsonrpc: "2.0", id: 1, method, params });
  const ask = (as: string, key: string): Promise<Response> =>
    send(as, "/v1/calls", { app: "shop", key, tool: "pay", args: {} });
  return { runner, send, rpc, ask };
}

/** How many looks at the ledger there are while somebody else asks for something a few times. */
async function looksDuring({ runner, ask }: ReturnType<typeof start>): Promise<number> {
  const { ledger } = await runner.engine();
  const load = vi.spyOn(ledger, "load");
  for (let place = 0; place < 10; place += 1) await (await ask("bob", `bob-${place}`)).text();
  const looks = load.mock.calls.length;
  load.mockRestore();
  return looks;
}

test("hundreds of answers of one person that wait make nobody else's request expensive", async () => {
  const server = start();
  await server.ask("eve", "k1");
  const alone = await looksDuring(server);
  const leave = new AbortController();
  const waiting = Array.from({ length: 100 }, () => server.send("eve", "/v1/calls/k1?wait=60"));
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "pay" }] };
  const sent = await (await server.rpc("SendMessage", { message })).json();
  const { result } = sent as { readonly result: { readonly task: { readonly id: string } } };
  const statuses: (string | null)[] = [];
  for (let place = 0; place < 210; place += 1) {
    const answer = await server.rpc("SubscribeToTask", { id: result.task.id });
    statuses.push(answer.headers.get("content-type"));
    const reader = answer.body?.getReader();
    await reader?.read();
    leave.signal.addEventListener("abort", () => void reader?.cancel());
  }
  resources.add(async () => leave.abort());
  expect(statuses.filter((type) => type === "text/event-stream")).toHaveLength(200);
  expect(await looksDuring(server)).toBeLessThan(alone + 1_000);
  const list = (await (await server.send("eve", "/v1/confirmations?app=shop")).json()) as {
    items: { id: string }[];
  };
  expect(list.items).toHaveLength(1);
  await server.send("eve", `/v1/confirmations/${list.items[0]?.id}/decision`, { confirmed: false });
  for (const answer of await Promise.all(waiting))
    expect(await answer.json()).toMatchObject({ status: "denied" });
});
