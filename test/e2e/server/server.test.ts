import { request as nodeRequest } from "node:http";
import { expect, test } from "vitest";
import { type AppOptions, createApp } from "../../../src/http/index.ts";
import { type NodeServer, type ServeOptions, serve } from "../../../src/http/node/index.ts";
import { Agent, Runner } from "../../../src/index.ts";
import { RawSocket } from "../../support/http/raw-socket.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();
type Fetch = ServeOptions["app"]["fetch"];

async function start(fetch: Fetch, options: Partial<ServeOptions> = {}): Promise<NodeServer> {
  const server = await serve({ app: { fetch }, port: 0, ...options });
  resources.add(() => server.close({ graceMs: 0 }));
  return server;
}

async function open(server: NodeServer): Promise<RawSocket> {
  const socket = await RawSocket.open(server.port);
  resources.add(() => socket.close());
  return socket;
}

const echo: Fetch = async (request, bindings) => {
  const { method, url, headers } = request;
  return Response.json({ method, url, headers: [...headers], body: await request.text(), bindings });
};

test("a request arrives as it was sent, and the answer goes back as it was made", async () => {
  const server = await start(async (request) => {
    const headers = new Headers({ "x-asked": request.headers.get("x-word") ?? "" });
    headers.append("set-cookie", "a=1; Path=/");
    headers.append("set-cookie", "b=2");
    return new Response(`${request.method} ${new URL(request.url).search} ${await request.text()}`, {
      status: 201,
      headers,
    });
  });
  const body = "x".repeat(300_000);
  const response = await fetch(`${server.url}/a/b?c=d%20e`, {
    method: "PUT",
    body,
    headers: { "x-word": "hi" },
  });
  expect(response.status).toBe(201);
  expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
  expect(response.headers.get("x-asked")).toBe("hi");
  expect(await response.text()).toBe(`PUT ?c=d%20e ${body}`);
});

test("a HEAD request, and an answer without a body, get none", async () => {
  const server = await start(async ({ method }) =>
    method === "HEAD" ? new Response("unseen") : new Response(null, { status: 204 }),
  );
  const head = await fetch(server.url, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  const none = await fetch(server.url, { method: "DELETE" });
  expect([none.status, await none.text()]).toEqual([204, ""]);
});

test.each([
  ["no HTTP at all", "hello\r\n\r\n", 400, "malformed-request"],
  ["a header without a name", "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400, "malformed-request"],
  ["no host", "GET / HTTP/1.1\r\n\r\n", 400, "malformed-request"],
  ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "malformed-request"],
  ["a host with a path", "GET / HTTP/1.1\r\nHost: a/../b?\r\n\r\n", 400, "malformed-request"],
  ["a host with a login", "GET / HTTP/1.1\r\nHost: u:p@a\r\n\r\n", 400, "malformed-request"],
  ["another host in its target", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed-request"],
  ["no path", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed-request"],
  ["a method that cannot be served", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed-request"],
  ["a tunnel", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405, "method-not-allowed"],
  ["headers without end", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "too-large"],
  [
    "a length and chunks at once",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
    400,
    "malformed-request",
  ],
])("a request with %s is refused with a problem", async (_what, text, status, code) => {
  const server = await start(echo);
  const client = await open(server);
  client.send(text);
  const received = await client.until(/"code":"[a-z-]+"/);
  expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(received).toMatch(/content-type: application\/problem\+json/i);
  expect(received).toContain(`"code":"${code}"`);
});

test.each<[string, Partial<AppOptions>]>([
  ["without a login", {}],
  ["with one", { authenticate: () => ({ id: "ana", kind: "token" }) }],
])("a load balancer's HTTP/1.0 without a host gets the probes and nothing else, %s", async (_, options) => {
  const runner = new Runner({ agent: new Agent({ name: "shop" }), ledger: "memory:" });
  resources.add(() => runner.close());
  const app = createApp({ apps: { shop: runner }, ...options });
  const server = await start((request, bindings) => app.fetch(request, bindings));
  const statusOf = async (text: string): Promise<string | undefined> => {
    const client = await open(server);
    client.send(`${text}\r\n\r\n`);
    return /^HTTP\/1.1 (\d+) /.exec(await client.until(/\r\n\r\n/))?.[1];
  };
  expect(await statusOf("GET /healthz HTTP/1.0")).toBe("200");
  expect(await statusOf("HEAD /readyz HTTP/1.0")).toBe("200");
  expect(await statusOf("GET /healthz HTTP/1.1")).toBe("400");
  for (const path of ["/", "/metrics", "/v1/confirmations", "/list-apps"])
    expect([path, await statusOf(`GET ${path} HTTP/1.0`)]).toEqual([path, "421"]);
  expect(await statusOf("POST /run HTTP/1.0\r\nOrigin: http://no-host.invalid")).toBe("421");
});

test("a target that names another host by two slashes stays a path of this one", async () => {
  const server = await start(echo);
  const client = await open(server);
  client.send("GET //elsewhere/x HTTP/1.1\r\nHost: here\r\n\r\n");
  expect(await client.until(/"url":"[^"]+"/)).toContain(`"url":"http://here//elsewhere/x"`);
});

test.each([
  ["headers", "GET / HTTP/1.1\r\nHost: a\r\nX-Slow", { headersMs: 100 }],
  ["a first byte", "", { headersMs: 100 }],
  [
    "a body",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
    { requestMs: 100, headersMs: 90 },
  ],
])("a client that is too slow with %s is told so and dropped", async (_what, text, limits) => {
  const server = await start(echo, { limits });
  const client = await open(server);
  client.send(text);
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1.1 408 [\s\S]*"code":"too-slow"/);
});

test("a fault of the app is a problem that tells nothing of it", async () => {
  const server = await start(async () => {
    throw new Error("the password is swordfish");
  });
  const response = await fetch(server.url);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("swordfish");
});

test("an answer that breaks off in the middle does not look whole", async () => {
  const server = await start(async () => {
    let sent = false;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (sent) controller.error(new Error("broken"));
          else controller.enqueue(new TextEncoder().encode("half"));
          sent = true;
        },
      }),
    );
  });
  await expect(fetch(server.url).then((response) => response.text())).rejects.toThrow(/terminated|failed/);
});

test("a body that is refused unread does not cost its sender the answer", async () => {
  const server = await start(async () => new Response("too large", { status: 413 }));
  const response = await new Promise<number | undefined>((resolve, reject) => {
    const sending = nodeRequest(server.url, { method: "POST" }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    sending.on("error", reject);
    sending.end(Buffer.alloc(5_000_000));
  });
  expect(response).toBe(413);
});

test("the request's signal aborts when its client goes away", async () => {
  const seen = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<boolean>();
  const server = await start(async (request) => {
    request.signal.addEventListener("abort", () => aborted.resolve(true));
    seen.resolve();
    return new Promise(() => {});
  });
  const client = await open(server);
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await seen.promise;
  client.close();
  expect(await aborted.promise).toBe(true);
});

test("the address of the client is known to the app, and a header changes that only for proxies that are trusted", async () => {
  const headers = { "x-forwarded-for": "6.6.6.6, 9.9.9.9, 10.0.0.1", "x-forwarded-proto": "https" };
  const asked = async (trustProxy?: number): Promise<unknown> => {
    const server = await start(
      async (request, bindings) =>
        Response.json({ remoteAddress: bindings?.remoteAddress, scheme: new URL(request.url).protocol }),
      trustProxy === undefined ? {} : { trustProxy },
    );
    return (await fetch(server.url, { headers })).json();
  };
  expect(await asked()).toEqual({ remoteAddress: "127.0.0.1", scheme: "http:" });
  expect(await asked(1)).toEqual({ remoteAddress: "10.0.0.1", scheme: "https:" });
  expect(await asked(2)).toEqual({ remoteAddress: "9.9.9.9", scheme: "https:" });
});

test("a proxy that was not configured is warned about, once", async () => {
  const warned: string[] = [];
  const logger = {
    info: () => {},
    error: () => {},
    warn: (_: object, text: string) => void warned.push(text),
  };
  const [untold, told] = [await start(echo, { logger }), await start(echo, { logger, trustProxy: 1 })];
  for (const { url } of [told, told, untold, untold])
    await (await fetch(url, { headers: { "x-forwarded-for": "192.0.2.1" } })).text();
  expect(warned).toEqual([expect.stringContaining("--trust-proxy 1")]);
});

test("more connections than allowed are refused, and the others are served", async () => {
  const server = await start(echo, { limits: { connections: 2 } });
  const [one, two, three] = [await open(server), await open(server), await open(server)];
  await three.closed;
  for (const client of [one, two]) {
    client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.until('"method"')).toMatch(/^HTTP\/1.1 200 /);
  }
});

test("a port that is taken is said with what to do", async () => {
  const { port } = await start(echo);
  await expect(start(echo, { port })).rejects.toMatchObject({
    code: "invalid-option",
    message: `Cannot listen on port ${port} of 127.0.0.1: the port is in use; choose another, or 0 for a free port.`,
  });
});
