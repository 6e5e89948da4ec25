import { expect, test } from "vitest";
import { type NodeServer, type ServeOptions, serve } from "../../../src/http/node/index.ts";
import { RawSocket } from "../../support/http/raw-socket.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();
const LONG_MS = 600_000;

async function start(app: ServeOptions["app"]): Promise<NodeServer> {
  const server = await serve({ app, port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  return server;
}

async function open(server: NodeServer): Promise<RawSocket> {
  const socket = await RawSocket.open(server.port);
  resources.add(() => socket.close());
  return socket;
}

/** An app whose answers come when the test says. */
function controlled() {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  const fetch = async (): Promise<Response> => {
    asked.resolve();
    return answer.promise;
  };
  return { app: { fetch }, asked: asked.promise, answer: answer.resolve };
}

function eventStream(body: ReadableStream): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** A stream that says one thing and then waits, and knows when it was given up. */
function feed() {
  const cancelled = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<string> | undefined;
  const body = new ReadableStream<string>({
    start(given) {
      controller = given;
      given.enqueue("data: first\n\n");
    },
    cancel: () => cancelled.resolve(),
  });
  return {
    response: () => eventStream(body.pipeThrough(new TextEncoderStream())),
    say: (text: string) => controller?.enqueue(text),
    end: () => controller?.close(),
    cancelled: cancelled.promise,
  };
}

test("closing lets a request in flight finish, and takes no other", async () => {
  const { app, asked, answer } = controlled();
  const server = await start(app);
  const inFlight = await open(server);
  inFlight.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await asked;
  const closed = server.close({ graceMs: LONG_MS });
  await expect(RawSocket.open(server.port)).rejects.toThrow("ECONNREFUSED");
  answer(new Response("done"));
  await inFlight.until("done");
  await inFlight.closed;
  await closed;
  expect(inFlight.received).toMatch(/connection: close/i);
});

test("closing drops connections on which nothing is asked, those that never asked anything too", async () => {
  const server = await start({ fetch: async () => new Response("hello") });
  const [silent, kept] = [await open(server), await open(server)];
  kept.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await kept.until("hello");
  await server.close({ graceMs: LONG_MS });
  await Promise.all([silent.closed, kept.closed]);
  expect(silent.received).toBe("");
});

test("closing ends a live feed cleanly, at once, and cancels its producer", async () => {
  const { response, cancelled } = feed();
  const server = await start({ fetch: async () => response() });
  const reader = await open(server);
  reader.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await reader.until("data: first\n\n");
  await server.close({ graceMs: LONG_MS });
  await cancelled;
  await reader.closed;
  // The last chunk of a chunked body: nothing is missing.
  expect(reader.received.endsWith("\r\n0\r\n\r\n")).toBe(true);
});

test("closing lets the stream of a run come to its own end", async () => {
  const { response, say, end } = feed();
  const server = await start({ fetch: async () => response() });
  const reader = await open(server);
  reader.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  await reader.until("data: first\n\n");
  const closed = server.close({ graceMs: LONG_MS });
  say("data: last\n\n");
  await reader.until("data: last\n\n");
  end();
  await closed;
  await reader.closed;
  expect(reader.received.endsWith("\r\n0\r\n\r\n")).toBe(true);
});

test("when the time of grace is over, streams are ended and everything else is cut off", async () => {
  const { response } = feed();
  const server = await start({
    fetch: async ({ method }) => (method === "POST" ? response() : new Promise<Response>(() => {})),
  });
  const [stream, stuck] = [await open(server), await open(server)];
  stream.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  stuck.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await stream.until("data: first\n\n");
  await server.close({ graceMs: 50 });
  await Promise.all([stream.closed, stuck.closed]);
  expect(stream.received.endsWith("\r\n0\r\n\r\n")).toBe(true);
  expect(stuck.received).toBe("");
});

test("closing tells the app first, so that it can say that it is not ready", async () => {
  const { app, asked, answer } = controlled();
  let drained = false;
  const server = await start({ ...app, drain: () => (drained = true) });
  const client = await open(server);
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await asked;
  const closed = server.close();
  expect(drained).toBe(true);
  answer(new Response("bye"));
  await Promise.all([closed, server.close()]);
});
