// Countersign in an Express app.
// #region express
import express from "express";
import { createApp } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node/index.ts";

const approvals = createApp({
  apps: { shop },
  basePath: "/approvals",
  authenticate: (request) => userOf(request),
});

const host = express();
host.use("/approvals", toNodeHandler(approvals)); // before or behind body parsers
host.get("/", (_request, response) => void response.send("the shop"));
const server = host.listen(0);

// #endregion

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { check } from "./check.ts";
import { shop, userOf } from "./shop.ts";

await once(server, "listening");
const { port } = server.address() as AddressInfo;
await check((path, init) => fetch(`http://localhost:${port}/approvals${path}`, init));
// #region drain
approvals.drain(); // /readyz fails, and live feeds end
server.close();
server.closeIdleConnections();
// #endregion
await once(server, "close");
await shop.close();
