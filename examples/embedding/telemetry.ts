// Telemetry for a host: log lines, spans, metrics.

const agent = new Agent({ name: "shop", model: scripted(() => "hello") });
const lines: object[] = [];
const logger = { info: (facts: object) => lines.push(facts), warn: () => {}, error: () => {} };

// #region telemetry
import { createApp, openTelemetry } from "../../src/http/index.ts";
import { Runner } from "../../src/index.ts";

const shop = new Runner({ agent, ledger: "memory:", trace: openTelemetry }); // spans for decisions, claims, tools, models
const approvals = createApp({ apps: { shop }, authenticate: (request) => userOf(request), logger }); // pino, or any logger with its methods

// #endregion

import assert from "node:assert/strict";
import { Agent } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { userOf } from "./shop.ts";

const headers = { "x-demo-user": "prometheus" };
const response = await approvals.fetch(new Request("http://localhost/metrics", { headers }));
assert.match(await response.text(), /^countersign_pending_confirmations 0$/m);
await approvals.fetch(
  new Request("http://localhost/v1/confirmations", { headers: { "x-demo-user": "ana" } }),
);
assert.equal(lines.length, 1, "one line a request, and none for what machines ask over and over");
await shop.close();
