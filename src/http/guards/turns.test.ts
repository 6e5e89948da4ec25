import { expect, test, vi } from "vitest";
import { RawSocket } from "../../../test/support/http/raw-socket.ts";
import { useResources } from "../../../test/support/resources.ts";
import { createEngine } from "../../index.ts";
import { createApp } from "../app.ts";
import { serve } from "../node/index.ts";

const resources = useResources();
/** More than the system keeps of an answer that nobody reads. */
const LARGE = "x".repeat(20_000_000);

/** A server with an answer of twenty megabytes, which says for whom it was made. */
async function start() {
  const engine = await createEngine({ ledger: "memory:" });
  resources.add(() => engine.close());
  const made: string[] = [];
  const app = createApp({
    apps: {},
    engine,
    mounts: [
      {
        path: "/large",
        fetch: async (_request, { principal }) => {
          made.push(principal.id);
          return new Response(LARGE);
        },
      },
    ],
    authenticate: ({ headers }) => ({
      id: headers.get("authorization") ?? "",
      scopes: ["read", "decide", "propose"],
    }),
  });
  const server = await serve({ app, port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  const send = (person: string, path: string, body?: object): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: person, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  /** Asks, and never reads the answer. */
  const stall = async (person: string): Promise<RawSocket> => {
    const socket = await RawSocket.open(server.port);
    resources.add(async () => socket.close());
    socket.socket.pause();
    socket.send(`GET /large/1 HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${person}\r\n\r\n`);
    return socket;
  };
  return { made, send, stall, port: server.port };
}

test("whoever does not read their answers gets few of them made, and nobody else waits", async () => {
  const { made, send, stall } = await start();
  const stalled = await Promise.all(Array.from({ length: 12 }, () => stall("eve")));
  await vi.waitFor(() => expect(made).toHaveLength(4));
  expect((await (await send("bob", "/large/1")).text()).length).toBe(LARGE.length);
  expect(made).toEqual(["eve", "eve", "eve", "eve", "bob"]);
  for (const socket of stalled.slice(0, 4)) socket.close();
  await vi.waitFor(() => expect(made).toHaveLength(9));
  // Those who left while they waited get none.
  for (const socket of stalled) socket.close();
  const [one, other] = await Promise.all([send("eve", "/v1/me"), send("eve", "/v1/me")]);
  expect([one.status, other.status, made.length]).toEqual([200, 200, 9]);
});

test("what waits for a person, and streams, take no turns", async () => {
  const { send } = await start();
  await send("eve", "/v1/calls", { app: "shop", key: "k1", tool: "pay", args: {} });
  const waiting = Array.from({ length: 6 }, () => send("eve", "/v1/calls/k1?wait=60"));
  const streams = Array.from({ length: 6 }, () => send("eve", "/v1/confirmations/stream"));
  for (const stream of await Promise.all(streams)) resources.add(async () => stream.body?.cancel());
  const list = (await (await send("eve", "/v1/confirmations")).json()) as { items: { id: string }[] };
  const decision = `/v1/confirmations/${list.items[0]?.id}/decision`;
  expect((await send("eve", decision, { confirmed: false })).status).toBe(200);
  for (const answer of await Promise.all(waiting))
    expect(await answer.json()).toMatchObject({ status: "denied" });
});

test("reads that are sent behind a stream, on its connection, keep nobody's turns", async () => {
  const { send, port } = await start();
  const socket = await RawSocket.open(port);
  resources.add(async () => socket.close());
  const paths = ["/v1/confirmations/stream", "/v1/me", "/v1/me", "/v1/me", "/v1/me"];
  const head = "HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: eve\r\n\r\n";
  socket.send(paths.map((path) => `GET ${path} ${head}`).join(""));
  await socket.until("text/event-stream");
  // They are all at the server, and have had time to take turns.
  for (let times = 0; times < 5; times += 1) expect((await send("bob", "/v1/me")).status).toBe(200);
  expect((await send("eve", "/v1/me")).status).toBe(200);
});

test("many small reads of one person are all answered", async () => {
  const { send } = await start();
  const answers = await Promise.all(Array.from({ length: 40 }, () => send("ana", "/v1/me")));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
