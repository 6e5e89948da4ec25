import type { Scope } from "../../src/http/index.ts";
import type { Ids, Sent } from "./attacked-server.ts";

/** A request that is in order when ana sends it, and what it takes. */
export interface Route {
  readonly request: (ids: Ids) => Omit<Sent, "method">;
  /** Any one of these will do; none: whoever is known. */
  readonly scopes: readonly Scope[];
  /** What another user gets who sends the very same; absent where nothing in it is ana's. */
  readonly asAnother?: readonly number[];
  /** Trying it without the right is put on record. */
  readonly audited?: true;
  /** Nobody needs to be logged in. */
  readonly open?: true;
}

const SESSION = "/apps/desk/users/ana/sessions/s-pay";
const LOOK: readonly Scope[] = ["read", "decide", "admin"];

function at(path: string, body?: unknown): Route["request"] {
  return () => ({ path, ...(body === undefined ? {} : { body }) });
}

function run(text: string): unknown {
  return {
    appName: "desk",
    userId: "ana",
    sessionId: "s-pay",
    newMessage: { role: "user", parts: [{ text }] },
  };
}

function reporting(what: string, report: object): Route {
  return {
    request: ({ claimed: { key, proof } }) => ({
      path: `/v1/calls/${key}/${what}`,
      body: { ...proof, ...report },
    }),
    scopes: ["propose"],
    asAnother: [403],
  };
}

/** Every route of the OpenAPI document. A new one without its line here fails the table. */
export const ROUTES: { readonly [route: string]: Route } = {
  "GET /healthz": { request: at("/healthz"), scopes: [], open: true },
  "GET /readyz": { request: at("/readyz"), scopes: [], open: true },
  "GET /health": { request: at("/health"), scopes: [], open: true },
  "GET /version": { request: at("/version"), scopes: [], open: true },
  "GET /openapi.json": { request: at("/openapi.json"), scopes: [], open: true },
  "POST /auth/login": { request: at("/auth/login", { token: "cst_wrong" }), scopes: [], open: true },
  "POST /auth/logout": { request: at("/auth/logout", {}), scopes: [], open: true },
  "GET /metrics": { request: at("/metrics"), scopes: ["metrics", "admin"] },
  "GET /v1/me": { request: at("/v1/me"), scopes: [] },
  "GET /v1/me/notifications": { request: at("/v1/me/notifications"), scopes: LOOK },
  "PUT /v1/me/notifications": {
    request: at("/v1/me/notifications", { off: [] }),
    scopes: ["decide", "admin"],
  },
  "GET /v1/confirmations": { request: at("/v1/confirmations"), scopes: LOOK },
  "GET /v1/confirmations/stream": { request: at("/v1/confirmations/stream"), scopes: LOOK },
  "GET /v1/confirmations/{id}": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}` }),
    scopes: LOOK,
    asAnother: [404],
  },
  "GET /v1/confirmations/{id}/context": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}/context` }),
    scopes: LOOK,
    asAnother: [404],
  },
  "GET /v1/confirmations/{id}/verification": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}/verification` }),
    scopes: LOOK,
    asAnother: [404],
  },
  "GET /v1/confirmations/{id}/deliveries": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}/deliveries` }),
    scopes: LOOK,
    asAnother: [404],
  },
  "POST /v1/confirmations/{id}/decision": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}/decision`, body: { confirmed: true } }),
    scopes: ["decide"],
    audited: true,
    asAnother: [404],
  },
  "POST /v1/decisions": {
    request: ({ pay }) => ({
      path: "/v1/decisions",
      body: { decisions: [{ id: pay, confirmed: true, version: 1 }] },
    }),
    scopes: ["decide"],
    audited: true,
    asAnother: [200],
  },
  "POST /v1/confirmations/{id}/view": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}/view`, body: {} }),
    scopes: ["read", "decide", "admin"],
    asAnother: [404],
  },
  "POST /v1/confirmations/{id}/vote-withdrawal": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}/vote-withdrawal`, body: {} }),
    scopes: ["decide"],
    audited: true,
    asAnother: [404],
  },
  "POST /v1/confirmations/{id}/cancellation": {
    request: ({ pay }) => ({ path: `/v1/confirmations/${pay}/cancellation`, body: { reason: "off" } }),
    scopes: ["decide"],
    audited: true,
    asAnother: [404],
  },
  "POST /v1/confirmations/{id}/settlement": {
    request: ({ lost }) => ({
      path: `/v1/confirmations/${lost}/settlement`,
      body: { as: "failed", error: "no" },
    }),
    scopes: ["decide"],
    audited: true,
    asAnother: [404],
  },
  "POST /v1/calls/{id}/settlement": {
    request: ({ stray }) => ({ path: `/v1/calls/${stray}/settlement`, body: { as: "failed", error: "no" } }),
    scopes: ["decide"],
    audited: true,
    asAnother: [404],
  },
  "POST /v1/calls": {
    request: at("/v1/calls", { key: "k", app: "shop", tool: "refund", args: { amount: 1 } }),
    scopes: ["propose"],
  },
  "GET /v1/calls/{key}": {
    request: ({ allowed }) => ({ path: `/v1/calls/${allowed}` }),
    scopes: ["propose"],
    asAnother: [403],
  },
  "POST /v1/calls/{key}/claim": {
    request: ({ allowed }) => ({ path: `/v1/calls/${allowed}/claim`, body: {} }),
    scopes: ["propose"],
    asAnother: [403],
  },
  "POST /v1/calls/{key}/heartbeat": reporting("heartbeat", { leaseSeconds: 60 }),
  "POST /v1/calls/{key}/result": reporting("result", { result: null }),
  "POST /v1/calls/{key}/failure": reporting("failure", { error: "no" }),
  "GET /v1/unknown": { request: at("/v1/unknown"), scopes: LOOK },
  "GET /v1/audit": { request: at("/v1/audit"), scopes: ["admin"] },
  "GET /v1/audit/verify": { request: at("/v1/audit/verify"), scopes: ["admin"] },
  "GET /v1/stats": { request: at("/v1/stats"), scopes: [...LOOK, "metrics"] },
  "GET /v1/deliveries": { request: at("/v1/deliveries"), scopes: ["admin"] },
  "POST /v1/deliveries/{channel}/{sequence}/retry": {
    request: ({ unsent }) => ({ path: `/v1/deliveries/pager/${unsent}/retry`, body: {} }),
    scopes: ["admin"],
  },
  "GET /v1/notices": { request: at("/v1/notices"), scopes: ["decide", "admin"] },
  "POST /v1/notices/{id}/acknowledgement": {
    request: ({ notice }) => ({ path: `/v1/notices/${notice}/acknowledgement`, body: {} }),
    scopes: ["admin"],
  },
  "GET /v1/grants": { request: at("/v1/grants"), scopes: LOOK },
  "POST /v1/grants/{id}/revoke": {
    request: ({ grant }) => ({ path: `/v1/grants/${grant}/revoke`, body: {} }),
    scopes: ["decide", "admin"],
    asAnother: [404],
  },
  "POST /v1/policy/replay": {
    request: at("/v1/policy/replay", { policy: "rules: [{ id: all, then: confirm }]" }),
    scopes: ["admin"],
  },
  "GET /v1/delegations": { request: at("/v1/delegations"), scopes: ["decide", "admin"] },
  "POST /v1/delegations": {
    request: at("/v1/delegations", { to: "zoe", until: new Date(Date.now() + 3_600_000).toISOString() }),
    scopes: ["decide", "admin"],
  },
  "POST /v1/delegations/{id}/revocation": {
    request: ({ delegation }) => ({ path: `/v1/delegations/${delegation}/revocation`, body: {} }),
    scopes: ["decide", "admin"],
  },
  "GET /list-apps": { request: at("/list-apps"), scopes: ["read", "run"] },
  "POST /apps/{app}/users/{user}/sessions": {
    request: at("/apps/desk/users/ana/sessions", {}),
    scopes: ["run"],
    asAnother: [403],
  },
  "GET /apps/{app}/users/{user}/sessions": {
    request: at("/apps/desk/users/ana/sessions"),
    scopes: ["read"],
    asAnother: [403],
  },
  "POST /apps/{app}/users/{user}/sessions/{session}": {
    request: at("/apps/desk/users/ana/sessions/s-new", {}),
    scopes: ["run"],
    asAnother: [403],
  },
  "GET /apps/{app}/users/{user}/sessions/{session}": {
    request: at(SESSION),
    scopes: ["read"],
    asAnother: [403],
  },
  "PATCH /apps/{app}/users/{user}/sessions/{session}": {
    request: at(SESSION, { stateDelta: { seen: true } }),
    scopes: ["run"],
    asAnother: [403],
  },
  "DELETE /apps/{app}/users/{user}/sessions/{session}": {
    request: at(SESSION),
    scopes: ["run"],
    asAnother: [403],
  },
  "POST /run": { request: at("/run", run("hello")), scopes: ["run"], asAnother: [403] },
  "POST /run_sse": { request: at("/run_sse", run("hello")), scopes: ["run"], asAnother: [403] },
  "POST /api/reasoning_engine": {
    request: at("/api/reasoning_engine", { class_method: "async_stream_query", input: run("hello") }),
    scopes: ["run"],
    asAnother: [403],
  },
  "POST /agui/{app}": {
    // The thread is the sender's own session, whatever its name.
    request: at("/agui/desk", {
      threadId: "s-pay",
      runId: "r-1",
      messages: [{ id: "m-1", role: "user", content: "hello" }],
    }),
    scopes: ["run"],
  },
  "GET /apps/{app}/users/{user}/sessions/{session}/stream": {
    request: at(`${SESSION}/stream`),
    scopes: ["read"],
    asAnother: [403],
  },
  "GET /dev/apps/{app}/build_graph": { request: at("/dev/apps/desk/build_graph"), scopes: ["read"] },
  "GET /dev/apps/{app}/build_graph_image": {
    request: at("/dev/apps/desk/build_graph_image"),
    scopes: ["read"],
  },
  "GET /apps/{app}/users/{user}/sessions/{session}/events/{event}/graph": {
    request: at(`${SESSION}/events/e-1/graph`),
    scopes: ["read"],
    asAnother: [403],
  },
};
