import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { loginModeOf } from "../../../src/engine/index.ts";
import type { App } from "../../../src/http/index.ts";
import { createApp } from "../../../src/http/index.ts";
import { serve, toNodeHandler } from "../../../src/http/node/index.ts";
import { useResources } from "../../support/resources.ts";
import { BASE_PATH, expectApprovals } from "./embedding.ts";
import { createShop, shopLogin } from "./shop.ts";

const resources = useResources();

function mountable(): App {
  const shop = createShop();
  resources.add(() => shop.close());
  return createApp({ apps: { shop }, authenticate: shopLogin, basePath: BASE_PATH });
}

test("the ledger knows of the host's login, so that the command line does not bypass it", async () => {
  const shop = createShop();
  resources.add(() => shop.close());
  const app = createApp({ apps: { shop }, authenticate: shopLogin });
  const { ledger } = await shop.engine();
  expect(await loginModeOf(ledger.items)).toBe("none");
  await app.fetch(new Request("http://localhost/v1/confirmations"));
  await app.fetch(new Request("http://localhost/readyz"));
  expect(await loginModeOf(ledger.items)).toBe("host");
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => {
    server.once("listening", resolve);
  });
  resources.add(() => server.closeAllConnections());
  resources.add(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("in Hono it takes its place beside the host's own routes", async () => {
  const approvals = mountable();
  const host = new Hono();
  host.get("/", (context) => context.text("the shop"));
  host.all(`${BASE_PATH}/*`, ({ req }) => approvals.fetch(req.raw));
  host.all(BASE_PATH, ({ req }) => approvals.fetch(req.raw));
  const server = await serve({ app: { fetch: async (request) => host.fetch(request) }, port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  await expectApprovals(server.url);
  expect(await (await fetch(server.url)).text()).toBe("the shop");
});

test.each([
  ["before any body parser", []],
  ["behind body parsers", [express.json(), express.urlencoded({ extended: false })]],
])("in Express, %s, it takes its place beside the host's own routes", async (_where, parsers) => {
  const host = express();
  host.use(...parsers, (_request, _response, next) => next());
  host.get("/", (_request, response) => void response.send("the shop"));
  host.use(BASE_PATH, toNodeHandler(mountable()));
  host.use((_request, response) => void response.status(404).send("the shop has nothing there"));
  const url = await listen(host);
  await expectApprovals(url);
  expect(await (await fetch(url)).text()).toBe("the shop");
});

test("in Express, what it has no route for is left to the host", async () => {
  const host = express();
  host.use(toNodeHandler(mountable()));
  host.use(BASE_PATH, toNodeHandler(mountable()));
  host.use((_request, response) => void response.status(404).send("the shop has nothing there"));
  const url = await listen(host);
  const headers = { "x-shop-user": "ana" };
  const answers = [`${url}/elsewhere`, `${url}${BASE_PATH}/no/such/route`].map(async (address) =>
    (await fetch(address, { headers })).text(),
  );
  expect(await Promise.all(answers)).toEqual(["the shop has nothing there", "the shop has nothing there"]);
  const missing = await fetch(`${url}${BASE_PATH}/v1/confirmations/none`, { headers });
  expect(await missing.json()).toMatchObject({ code: "unknown-confirmation" });
});

test("a body that somebody else has to read is left untouched for them", async () => {
  const host = express();
  host.use(toNodeHandler(mountable()));
  const seen: unknown[] = [];
  host.use((request, _response, next) => {
    seen.push(request.readableFlowing);
    next();
  });
  host.post("/orders", express.json(), (request, response) => void response.json(request.body));
  const url = await listen(host);
  const order = { item: "book", note: "x".repeat(50_000) };
  const response = await fetch(`${url}/orders`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  expect(await response.json()).toEqual(order);
  // Node's way to say that nobody has begun to read.
  expect(seen).toEqual([null]);
});

test("in a plain Node server it answers everything, also what it does not know", async () => {
  const url = await listen(toNodeHandler(mountable()));
  await expectApprovals(url);
  const elsewhere = await fetch(`${url}/elsewhere`);
  expect([elsewhere.status, await elsewhere.json()]).toMatchObject([404, { code: "unknown-route" }]);
});

test.each(["approvals", "/approvals/", "/a b", "/../x", "//x"])("a base path %s is refused", (basePath) => {
  const shop = createShop();
  resources.add(() => shop.close());
  expect(() => createApp({ apps: { shop }, basePath })).toThrow(
    `Invalid basePath "${basePath}". Start it with a slash and do not end with one`,
  );
});
