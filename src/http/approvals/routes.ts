import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Confirmation } from "../../engine/index.ts";
import { serveCallerCalls } from "../calls/routes.ts";
import { serveDelegations } from "../delegations/routes.ts";
import { serveDeliveries } from "../deliveries/routes.ts";
import type { HttpEnv } from "../env.ts";
import { serveFeed } from "../feed/routes.ts";
import { serveGrants } from "../grants/routes.ts";
import { IDEMPOTENCY_HEADER } from "../idempotency/idempotency.ts";
import { serveNotifications } from "../notices/notifications.ts";
import { serveNotices } from "../notices/routes.ts";
import { newRoutes, refuseOtherMethods, serve } from "../operation.ts";
import { servePolicy } from "../policy/routes.ts";
import { decisionResultsSchema, meSchema } from "../schemas/answers.ts";
import {
  callPageSchema,
  callSchema,
  confirmationPageSchema,
  confirmationSchema,
  contextSchema,
} from "../schemas/confirmation.ts";
import {
  cancellationBodySchema,
  decisionBodySchema,
  decisionsBodySchema,
  emptyBodySchema,
  settlementBodySchema,
} from "../schemas/inputs.ts";
import { idParamsSchema, listQuerySchema, pageQuerySchema, waitQuerySchema } from "../schemas/queries.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { serveStatistics } from "../statistics/routes.ts";
import { listUnknown } from "./calls.ts";
import { cancelOne } from "./cancel.ts";
import { contextOf } from "./context.ts";
import { decideMany, decideOne } from "./decide.ts";
import { list, searchesOpen } from "./list.ts";
import { settleCall, settleConfirmation } from "./settle.ts";
import { viewOne } from "./view.ts";
import { find, show } from "./visibility.ts";
import { withdrawOwnVote } from "./withdraw-vote.ts";

const TAG = "confirmations";
const KEY = {
  [IDEMPOTENCY_HEADER]: "A repeated request with the same key and body within a day is the same request.",
};
const SETTLING = { body: settlementBodySchema, headers: KEY, problems: [404, 409, 412] };
const ONE = { description: "The confirmation", schema: confirmationSchema };
const NO_STORE = { "cache-control": "no-store" };

/** The approvals API: lists, single confirmations, decisions, the live stream. */
export function approvalRoutes(site: Site): OpenAPIHono<HttpEnv> {
  const routes = newRoutes();
  // Before `{id}`, which would also match "stream".
  serveFeed(routes, site);
  serveReads(routes, site);
  serveViews(routes, site);
  serveDecisions(routes, site);
  serveEndings(routes, site);
  serveCalls(routes, site);
  serveCallerCalls(routes, site);
  serveDeliveries(routes, site);
  serveNotifications(routes, site);
  serveNotices(routes, site);
  serveGrants(routes, site);
  serveStatistics(routes, site);
  serveDelegations(routes, site);
  servePolicy(routes, site);
  serveIdentity(routes, site);
  refuseOtherMethods(routes);
  return routes;
}

function serveReads(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/confirmations",
      summary: "List confirmations",
      tag: TAG,
      query: listQuerySchema,
      answer: { description: "The confirmations that you may see", schema: confirmationPageSchema },
      problems: [400],
    },
    async (context, { query }) => {
      requireScope(context, "read", "decide", "admin");
      const reading = { site, principal: context.get("principal") };
      const page = searchesOpen(query)
        ? await list(reading, query)
        : await site.lists.read(query, (lists) => list({ ...reading, lists }, query));
      return Response.json(page, { headers: NO_STORE });
    },
  );
  serve(
    routes,
    {
      method: "get",
      path: "/v1/confirmations/{id}",
      summary: "Get one confirmation",
      tag: TAG,
      params: idParamsSchema,
      answer: ONE,
      problems: [404],
    },
    async (context, { params }) => {
      requireScope(context, "read", "decide", "admin");
      const principal = context.get("principal");
      const found = await find(site, params.id, principal);
      return one(show(found, principal, await site.counting(found.confirmation.app)));
    },
  );
  serve(
    routes,
    {
      method: "get",
      path: "/v1/confirmations/{id}/context",
      summary: "Get the context of a confirmation: the conversation, earlier decisions",
      tag: TAG,
      params: idParamsSchema,
      answer: { description: "The context", schema: contextSchema },
      problems: [404],
    },
    async (context, { params }) => {
      requireScope(context, "read", "decide", "admin");
      const told = await contextOf({ site, principal: context.get("principal") }, params.id);
      return Response.json(told, { headers: NO_STORE });
    },
  );
}

function serveViews(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "post",
      path: "/v1/confirmations/{id}/view",
      summary: "Say that you have opened a confirmation. The first time is recorded, while it is open",
      tag: TAG,
      params: idParamsSchema,
      body: emptyBodySchema,
      answer: ONE,
      problems: [404],
    },
    async (context, { params }) => {
      requireScope(context, "read", "decide", "admin");
      return one(await viewOne(site, context, params.id));
    },
  );
}

function serveDecisions(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "post",
      path: "/v1/confirmations/{id}/decision",
      summary:
        "Approve or deny. Answers when that is committed. Where several people must approve, the confirmation stays " +
        "`requested` until the last of them does; the run then resumes by itself",
      tag: TAG,
      params: idParamsSchema,
      query: waitQuerySchema,
      body: decisionBodySchema,
      headers: { ...KEY, "If-Match": "The version that you saw; the same as `version` in the body." },
      answer: ONE,
      problems: [404, 409, 412],
    },
    async (context, { params, query, body }) =>
      one(await decideOne(site, context, { id: params.id, body, wait: query.wait ?? 0 })),
  );
  serve(
    routes,
    {
      method: "post",
      path: "/v1/decisions",
      summary: "Decide several confirmations, each independently",
      tag: TAG,
      body: decisionsBodySchema,
      headers: KEY,
      answer: { description: "One result per decision, in the same order", schema: decisionResultsSchema },
    },
    async (context, { body }) =>
      Response.json({ results: await decideMany(site, context, body) }, { headers: NO_STORE }),
  );
}

function serveEndings(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "post",
      path: "/v1/confirmations/{id}/vote-withdrawal",
      summary: "Withdraw your own vote, while more votes are needed",
      tag: TAG,
      params: idParamsSchema,
      headers: KEY,
      answer: ONE,
      problems: [404, 409],
    },
    async (context, { params }) => one(await withdrawOwnVote(site, context, params.id)),
  );
  serve(
    routes,
    {
      method: "post",
      path: "/v1/confirmations/{id}/cancellation",
      summary: "Withdraw a question, or an approval that has not started",
      tag: TAG,
      params: idParamsSchema,
      body: cancellationBodySchema,
      headers: KEY,
      answer: ONE,
      problems: [404, 409],
    },
    async (context, { params, body }) =>
      one(await cancelOne(site, context, { id: params.id, reason: body.reason })),
  );
  serve(
    routes,
    {
      ...SETTLING,
      method: "post",
      path: "/v1/confirmations/{id}/settlement",
      summary: "Settle a call whose outcome is unknown",
      tag: TAG,
      params: idParamsSchema,
      answer: ONE,
    },
    async (context, { params, body }) =>
      one(await settleConfirmation(site, context, { id: params.id, body })),
  );
}

function serveCalls(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      ...SETTLING,
      method: "post",
      path: "/v1/calls/{id}/settlement",
      summary: "Settle an unknown call that has no confirmation",
      tag: "calls",
      params: idParamsSchema,
      answer: { description: "The call", schema: callSchema },
    },
    async (context, { params, body }) =>
      Response.json(await settleCall(site, context, { id: params.id, body }), { headers: NO_STORE }),
  );
  serve(
    routes,
    {
      method: "get",
      path: "/v1/unknown",
      summary: "List unknown calls that have no confirmation",
      tag: "calls",
      query: pageQuerySchema,
      answer: { description: "The calls that you may see, oldest first", schema: callPageSchema },
      problems: [400],
    },
    async (context, { query }) => {
      requireScope(context, "read", "decide", "admin");
      const page = await listUnknown(site, query, context.get("principal"));
      return Response.json(page, { headers: NO_STORE });
    },
  );
}

function serveIdentity(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/me",
      summary: "Get the current user",
      tag: "identity",
      answer: { description: "The current user, and the apps of this server", schema: meSchema },
    },
    (context) => {
      const { id, kind, roles, scopes, authenticated } = context.get("principal");
      const principal = { id, kind, roles, scopes, authenticated };
      const { auth, appNames: apps, examplePrompts, channels } = site;
      const me = { principal, auth: auth.name, apps, examplePrompts, channels };
      return Response.json(me, { headers: NO_STORE });
    },
  );
}

function one(confirmation: Confirmation): Response {
  return Response.json(confirmation, { headers: { ...NO_STORE, etag: `"${confirmation.version}"` } });
}
