// Countersign in a Hono app.

// #region hono
import { Hono } from "hono";
import { createApp } from "../../src/http/index.ts";

const approvals = createApp({
  apps: { shop }, // Runners by name
  basePath: "/approvals",
  authenticate: (request) => userOf(request), // { id, roles? }, or undefined: 401
});

const host = new Hono();
host.get("/", (context) => context.text("the shop"));
host.all("/approvals", ({ req }) => approvals.fetch(req.raw));
host.all("/approvals/*", ({ req }) => approvals.fetch(req.raw));

// #endregion

import { check } from "./check.ts";
import { shop, userOf } from "./shop.ts";

await check(async (path, init) => host.request(`http://localhost/approvals${path}`, init));
await shop.close();
