// A call waits for a person, and its process ends. What follows is another trace, linked to the span that asked.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { trace } from "@opentelemetry/api";
import { openTelemetry } from "../../src/http/index.ts";
import { createEngine, type Engine } from "../../src/index.ts";
import { type OtlpSpan, type OtlpTraces, setUpOpenTelemetry } from "./otlp-provider.ts";

// A collector's receiver for OTLP/HTTP with JSON.
const spans: OtlpSpan[] = [];
const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  assert.equal(`${request.method} ${request.url}`, "POST /v1/traces");
  const { resourceSpans } = JSON.parse(await text(request)) as OtlpTraces;
  spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
  response.setHeader("content-type", "application/json").end("{}");
};
const collector = createServer((request, response) => void receive(request, response)).listen(0, "127.0.0.1");
await new Promise((resolve) => collector.once("listening", resolve));
const { port } = collector.address() as AddressInfo;

const telemetry = setUpOpenTelemetry(`http://127.0.0.1:${port}`, "shop");
const folder = await mkdtemp(join(tmpdir(), "countersign-otlp-"));
const open = (): Promise<Engine> =>
  createEngine({ ledger: `sqlite:${join(folder, "ledger.db")}`, trace: openTelemetry });
const gate = (engine: Engine) => engine.gate("refund", { requireConfirmation: true }, async () => "paid");

// The host's own span asks.
const first = await open();
const asked = await trace.getTracer("shop").startActiveSpan("order 17", {}, async (span) => {
  const outcome = await gate(first)({}, { key: "order-17", by: { id: "ana" } });
  span.end();
  return outcome;
});
assert.equal(asked.status, "pending");
await first.close();

// Days later, in another process.
const second = await open();
gate(second);
const { id } = asked.status === "pending" ? asked.confirmation : { id: "" };
const { finished } = await second.approve(id, { by: { id: "ana" } });
assert.equal((await finished).result, "paid");
await second.close();
await telemetry.flush();

const request = spans.find(({ name }) => name === "order 17");
const ran = spans.find(({ name }) => name === "execute_tool refund");
assert.ok(request && ran, spans.map(({ name }) => name).join(", "));
assert.notEqual(ran.traceId, request.traceId, "the wait is not one long span");
const [link] = ran.links;
assert.deepEqual([link?.traceId, link?.spanId], [request.traceId, request.spanId]);
collector.close();
rmSync(folder, { recursive: true });
console.log("execute_tool refund is linked to the span that asked");
