import { afterEach, expect, test } from "vitest";
import { Agent, createEngine, Runner } from "../../index.ts";
import { createApp } from "../app.ts";
import { createAuth } from "../auth/create-auth.ts";
import { Tokens } from "../auth/tokens.ts";

const releases: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0).toReversed()) await release();
});

interface Sent {
  readonly from?: string;
  readonly bearer?: string;
  readonly body?: object;
}

interface Server {
  readonly send: (path: string, sent?: Sent) => Promise<number>;
  readonly secret: string;
}

/** Ten requests and three failures a minute. */
async function server(): Promise<Server> {
  const engine = await createEngine({ ledger: "memory:" });
  const runner = new Runner({ agent: new Agent({ name: "shop" }), engine });
  releases.push(
    () => engine.close(),
    () => runner.close(),
  );
  const auth = await createAuth({ mode: "tokens", ledger: engine.ledger });
  const limits = { requestsPerMinute: 10, failedLoginsPerMinute: 3 };
  const app = createApp({ apps: { shop: runner }, auth, limits });
  const tokens = new Tokens(engine.ledger.items);
  const { secret } = await tokens.create({ user: "ana", roles: [], scopes: ["read"], createdBy: "test" });
  const send = async (path: string, { from, bearer, body }: Sent = {}): Promise<number> => {
    const request = new Request(`http://localhost${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await app.fetch(request, from === undefined ? {} : { remoteAddress: from })).status;
  };
  return { send, secret };
}

async function times(count: number, act: () => Promise<number>): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < count; time++) statuses.push(await act());
  return statuses;
}

test("a flood by somebody unknown keeps neither a probe nor a page's files waiting", async () => {
  const { send } = await server();
  expect(await times(20, () => send("/version", { from: "192.0.2.1" }))).toContain(429);
  for (const path of ["/healthz", "/readyz", "/assets/x.js"])
    expect(await times(30, () => send(path, { from: "192.0.2.1" })), path).not.toContain(429);
});

test("what is sent to a probe, with a body to read, is limited like anything else", async () => {
  const { send } = await server();
  const statuses = await times(20, () => send("/healthz", { from: "192.0.2.1", body: { large: true } }));
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
});

test("callers who have not said who they are do not share what they may take", async () => {
  const { send, secret } = await server();
  await times(20, () => send("/version", { from: "192.0.2.1" }));
  expect(await send("/version", { from: "192.0.2.1" })).toBe(429);
  expect(await send("/version", { from: "192.0.2.2" })).toBe(200);
  expect(await send("/auth/login", { from: "192.0.2.2", body: { token: secret } })).toBe(200);
  // Whoever says who they are is let in from anywhere.
  expect(await send("/list-apps", { from: "192.0.2.1", bearer: secret })).toBe(200);
});

test("a network of IPv6 addresses is one caller, and an IPv4 address is one in either spelling", async () => {
  const { send } = await server();
  let host = 0;
  const many = await times(20, () =>
    send("/version", { from: `2001:db8:1:2::${((host += 1)).toString(16)}` }),
  );
  expect(many.filter((status) => status === 200)).toHaveLength(10);
  expect(await send("/version", { from: "2001:db8:1:3::1" })).toBe(200);
  await times(10, () => send("/version", { from: "::ffff:192.0.2.7" }));
  expect(await send("/version", { from: "192.0.2.7" })).toBe(429);
});

test("a token that is guessed from many addresses is slowed down, and its holder is not", async () => {
  const { send, secret } = await server();
  const guess = `${secret.slice(0, -43)}${"x".repeat(43)}`;
  let host = 0;
  const from = (): string => `192.0.2.${(host += 1)}`;
  expect(await times(5, () => send("/list-apps", { from: from(), bearer: guess }))).toEqual([
    401, 401, 401, 429, 429,
  ]);
  expect(await send("/auth/login", { from: from(), body: { token: guess } })).toBe(429);
  expect(await send("/list-apps", { from: from(), bearer: secret })).toBe(200);
  expect(await send("/auth/login", { from: from(), body: { token: secret } })).toBe(200);
});

test("where a host does not say where its callers are, none of them waits for another", async () => {
  const { send, secret } = await server();
  expect(await times(30, () => send("/version"))).not.toContain(429);
  expect(await times(30, () => send("/list-apps", { bearer: "wrong" }))).not.toContain(429);
  expect(await times(11, () => send("/list-apps", { bearer: secret }))).toContain(429);
});

test("who has not logged in may send little: a login, not a megabyte", async () => {
  const { send, secret } = await server();
  const large = { token: "x".repeat(100_000) };
  expect(await send("/auth/login", { body: large })).toBe(413);
  expect(await send("/", { body: large })).toBe(413);
  expect(await send("/v1/decisions", { body: large })).toBe(401);
  expect(await send("/v1/decisions", { body: large, bearer: secret })).not.toBe(413);
});
