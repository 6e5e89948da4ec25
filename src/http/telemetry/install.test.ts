import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  type ContextManager,
  context as contexts,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  trace,
} from "@opentelemetry/api";
import { afterEach, expect, test } from "vitest";
import { Agent, createEngine, Engine, Runner, tool } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";
import { createApp } from "../app.ts";
import type { AppOptions } from "../app-options.ts";
import { openTelemetry } from "./tracing.ts";

const runners: Runner[] = [];
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.close();
  trace.disable();
  contexts.disable();
  propagation.disable();
});

function newRunner(requireConfirmation = false): Runner {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    requireConfirmation,
    execute: () => ({ paid: true }),
  });
  const model = scripted(({ contents }) =>
    contents.length > 1 ? "done" : [{ functionCall: { name: "pay", args: {} } }],
  );
  const agent = new Agent({ name: "shop", model, tools: [pay] });
  const runner = new Runner({ agent, ledger: "memory:", trace: openTelemetry });
  runners.push(runner);
  return runner;
}

/** An app, and every line of its log. */
function watched(options: Partial<AppOptions> = {}) {
  const lines: { level: string; facts: Record<string, unknown>; message: string }[] = [];
  const note =
    (level: string) =>
    (facts: object, message: string): void => {
      lines.push({ level, facts: { ...facts }, message });
    };
  const logger = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  const app = createApp({ apps: { shop: newRunner() }, logger, ...options });
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    app.fetch(new Request(`http://localhost${path}`, init));
  const metrics = async (): Promise<string> => (await ask("/metrics")).text();
  return { ask, lines, metrics };
}

test("a request is one line of the log: the route's pattern, who, how long, and no word that the client chose", async () => {
  const { ask, lines } = watched({ authenticate: () => ({ id: "ana", kind: "token" }) });
  await ask("/v1/confirmations/c-secret?token=swordfish", {
    headers: { authorization: "Bearer hunter2", cookie: "s=monkey", "x-request-id": "request-17" },
  });
  expect(lines).toEqual([
    {
      level: "info",
      message: "request",
      facts: {
        method: "GET",
        route: "/v1/confirmations/:id",
        status: 404,
        ms: expect.any(Number) as number,
        requestId: "request-17",
        principal: { id: "ana", kind: "token" },
      },
    },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/secret|swordfish|hunter2|monkey/);
});

test.each(["/", "/approvals"])(
  "what machines ask for is told to who debugs, unless it is refused; below %s",
  async (basePath) => {
    const { ask, lines } = watched({ basePath });
    const base = basePath === "/" ? "" : basePath;
    for (const path of ["/healthz", "/readyz", "/metrics"]) await ask(`${base}${path}`);
    await ask(`${base}/healthz`, { method: "DELETE" });
    await ask(`${base}/v1/confirmations`);
    expect(lines.map(({ level, facts }) => [level, facts["route"]])).toEqual([
      ["debug", `${base}/healthz`],
      ["debug", `${base}/readyz`],
      ["debug", `${base}/metrics`],
      ["info", `${base}/healthz`],
      ["info", `${base}/v1/confirmations`],
    ]);
  },
);

test("requests are counted by route and status, and what no route or method fits is one of a kind", async () => {
  const { ask, metrics } = watched();
  for (const path of ["/healthz", "/healthz", "/x/1", "/y/2"]) await ask(path);
  await ask("/healthz", { method: "BREW" });
  const text = await metrics();
  expect(text).toContain('countersign_http_requests_total{method="GET",route="/healthz",status="200"} 2');
  expect(text).toContain('countersign_http_requests_total{method="GET",route="unmatched",status="404"} 2');
  expect(text).toContain('countersign_http_requests_total{method="other",route="/healthz",status="405"} 1');
  expect(text).toContain('countersign_http_request_duration_seconds_count{method="GET",route="/healthz"} 2');
});

test("a route is reported with its base path, and refused requests are counted too", async () => {
  const { ask, lines } = watched({ basePath: "/approvals", authenticate: () => undefined });
  await ask("/approvals/v1/confirmations");
  expect(lines.at(-1)?.facts).toMatchObject({ route: "/approvals/v1/confirmations", status: 401 });
});

test("a stream is open until its reader leaves, and is logged then", async () => {
  const { ask, lines, metrics } = watched();
  const open = 'countersign_http_open_streams{route="/v1/confirmations/stream"}';
  const response = await ask("/v1/confirmations/stream");
  expect(await metrics()).toContain(`${open} 1`);
  expect(lines.filter(({ facts }) => facts["route"] === "/v1/confirmations/stream")).toEqual([]);
  await response.body?.cancel();
  expect(await metrics()).toContain(`${open} 0`);
  expect(lines.filter(({ facts }) => facts["route"] === "/v1/confirmations/stream")).toHaveLength(1);
});

test("asking for nothing but the head of a stream leaves none open", async () => {
  const { ask, metrics } = watched();
  const response = await ask("/v1/confirmations/stream", { method: "HEAD" });
  expect([response.status, response.body]).toEqual([200, null]);
  expect(await metrics()).not.toMatch(/^countersign_http_open_streams\{.*\} 1$/m);
});

test.each(["metrics", "admin"])("metrics take the scope %s, where there is a login", async (scope) => {
  const scopes = ["run", "read", "decide", "act-as"];
  const { ask } = watched({ authenticate: () => ({ id: "ana", scopes }) });
  expect((await ask("/metrics")).status).toBe(403);
  scopes.push(scope);
  expect((await ask("/metrics")).status).toBe(200);
  const nobody = watched({ authenticate: () => undefined });
  expect((await nobody.ask("/metrics")).status).toBe(401);
});

/** What a host's OpenTelemetry set-up keeps of a span. */
interface Recorded {
  name: string;
  readonly parent: string | undefined;
  readonly id: string;
  readonly attributes: Attributes;
  readonly links: SpanContext[];
  ended: boolean;
}

const PARENT = "0af7651916cd43dd8448eb211c80319c";

/** The least that a host could set up: contexts by AsyncLocalStorage, W3C headers, and a list of spans. */
function recordSpans(): readonly Recorded[] {
  const spans: Recorded[] = [];
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, work, self, ...args) => storage.run(context, () => work.apply(self as never, args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  contexts.setGlobalContextManager(manager);
  propagation.setGlobalPropagator({
    inject: () => {},
    fields: () => ["traceparent"],
    extract: (context, carrier, getter) => {
      const [, traceId = "", spanId = ""] = String(getter.get(carrier, "traceparent")).split("-");
      return spanId === "" ? context : trace.setSpanContext(context, { traceId, spanId, traceFlags: 1 });
    },
  });
  const startSpan = (name: string, options: SpanOptions = {}, context: Context = contexts.active()): Span => {
    const id = `5a${String(spans.length).padStart(14, "0")}`;
    const parent = trace.getSpanContext(context)?.spanId;
    const attributes = { ...options.attributes };
    const recorded: Recorded = { name, parent, id, attributes, links: [], ended: false };
    spans.push(recorded);
    const span = trace.wrapSpanContext({ traceId: PARENT, spanId: id, traceFlags: 1 });
    span.updateName = (changed) => {
      recorded.name = changed;
      return span;
    };
    span.setAttributes = (more) => {
      Object.assign(recorded.attributes, more);
      return span;
    };
    span.addLink = ({ context: linked }) => {
      recorded.links.push(linked);
      return span;
    };
    span.end = () => {
      recorded.ended = true;
    };
    return span;
  };
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan,
      startActiveSpan: (name: string, options: SpanOptions, work: (span: Span) => unknown) => {
        const span = startSpan(name, options);
        return contexts.with(trace.setSpan(contexts.active(), span), () => work(span)) as never;
      },
    }),
  } as never);
  return spans;
}

test("a request is a span below its sender's, and models and tools are spans below it", async () => {
  const spans = recordSpans();
  const { ask } = watched();
  const headers = { "content-type": "application/json", traceparent: `00-${PARENT}-b7ad6b7169203331-01` };
  const post = (path: string, body: object): Promise<Response> =>
    ask(path, { method: "POST", headers, body: JSON.stringify(body) });
  await post("/apps/shop/users/ana/sessions/s1", {});
  const newMessage = { role: "user", parts: [{ text: "pay" }] };
  const run = await post("/run", { appName: "shop", userId: "ana", sessionId: "s1", newMessage });
  expect(run.status).toBe(200);
  const server = spans.find(({ name }) => name === "POST /run");
  expect(server).toMatchObject({ parent: "b7ad6b7169203331", ended: true });
  expect(server?.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/run",
    "http.response.status_code": 200,
  });
  const inside = spans.filter(({ attributes }) => attributes["gen_ai.operation.name"] !== undefined);
  expect(inside.map(({ name, ended }) => [name, ended])).toEqual([
    ["chat", true],
    ["execute_tool pay", true],
    ["chat", true],
  ]);
  expect(inside[0]?.attributes).toMatchObject({ "gen_ai.operation.name": "chat", "countersign.app": "shop" });
  const { attributes = {} } = inside[1] ?? {};
  expect(attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "pay",
    "countersign.tool": "pay",
    "countersign.app": "shop",
  });
  expect(attributes["gen_ai.tool.call.id"]).toBe(attributes["countersign.call"]);
  expect(inside[0]?.parent).toBe(server?.id);
});

test("what follows the wait for a person has a link to the span that asked", async () => {
  const spans = recordSpans();
  const { ask } = watched({ apps: { shop: newRunner(true) } });
  const post = (path: string, body: object): Promise<Response> =>
    ask(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await post("/apps/shop/users/local/sessions/s1", {});
  const newMessage = { role: "user", parts: [{ text: "pay" }] };
  await post("/run", { appName: "shop", userId: "local", sessionId: "s1", newMessage });
  const request = spans.find(({ name }) => name === "POST /run");
  const { items } = (await (await ask("/v1/confirmations")).json()) as {
    readonly items: readonly { readonly id: string }[];
  };
  await post(`/v1/confirmations/${items[0]?.id}/decision?wait=10`, { confirmed: true });
  const linked = spans.filter(({ links }) => links.length > 0);
  expect(linked.map(({ name }) => name).toSorted()).toEqual(["countersign.decide", "execute_tool pay"]);
  for (const { links } of linked)
    expect(links).toEqual([{ traceId: PARENT, spanId: request?.id, traceFlags: 1, isRemote: true }]);
});

test("whoever claims a call that was approved elsewhere links the claim to the span that asked", async () => {
  const spans = recordSpans();
  const engine = await createEngine({ ledger: "memory:", trace: openTelemetry });
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
  const asked = await trace
    .getTracer("host")
    .startActiveSpan("order 17", {}, () => pay({}, { key: "k", by: { id: "ana" } }));
  if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
  // Where nothing runs: a server of the inbox alone.
  await new Engine({ ledger: engine.ledger }).approve(asked.confirmation.id, { by: { id: "ana" } });
  await engine.work({ once: true });
  await engine.close();
  const request = spans.find(({ name }) => name === "order 17");
  const linked = spans.filter(({ links }) => links.length > 0);
  expect(linked.map(({ name }) => name)).toEqual(["countersign.claim", "execute_tool pay"]);
  for (const { links } of linked)
    expect(links).toEqual([{ traceId: PARENT, spanId: request?.id, traceFlags: 1, isRemote: true }]);
});
