import type { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import {
  callerCallSchema,
  claimBodySchema,
  claimedCallSchema,
  failureBodySchema,
  heartbeatBodySchema,
  keyParamsSchema,
  proposalBodySchema,
  resultBodySchema,
} from "../schemas/caller-calls.ts";
import { waitQuerySchema } from "../schemas/queries.ts";
import type { Site } from "../site.ts";
import { claimCall, endCall, proposeCall, readCall, renewCall } from "./calls.ts";

const TAG = "calls";
const NO_STORE = { "cache-control": "no-store" };
const CALL = { description: "The call as it is now", schema: callerCallSchema };

/** Calls that their callers run: ask, wait, claim, report. For programs in any language. */
export function serveCallerCalls(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serveAsking(routes, site);
  serveRunning(routes, site);
}

function serveAsking(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "post",
      path: "/v1/calls",
      summary: "Ask for a call that you will run yourself. Repeating a key returns the same call",
      tag: TAG,
      body: proposalBodySchema,
      answer: CALL,
      problems: [400, 409],
    },
    async (context, { body }) => json(await proposeCall(site, context, body)),
  );
  serve(
    routes,
    {
      method: "get",
      path: "/v1/calls/{key}",
      summary: "Get one of your calls. With `wait`, answers when it is no longer pending or running",
      tag: TAG,
      params: keyParamsSchema,
      query: waitQuerySchema,
      answer: CALL,
      problems: [404],
    },
    async (context, { params, query }) =>
      json(await readCall(site, context, { key: params.key, seconds: query.wait ?? 0 })),
  );
}

function serveRunning(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const reporting = { method: "post", tag: TAG, params: keyParamsSchema, problems: [404, 409] } as const;
  serve(
    routes,
    {
      ...reporting,
      path: "/v1/calls/{key}/claim",
      summary: "Claim an allowed call before you run it. Only one claim succeeds",
      body: claimBodySchema,
      answer: { description: "The call, and your claim", schema: claimedCallSchema },
    },
    async (context, { params, body }) => json(await claimCall(site, context, { ...body, ...params })),
  );
  serve(
    routes,
    {
      ...reporting,
      path: "/v1/calls/{key}/heartbeat",
      summary: "Renew your claim while the call runs. A claim that is not renewed is lost",
      body: heartbeatBodySchema,
      answer: CALL,
    },
    async (context, { params, body }) => json(await renewCall(site, context, { ...body, ...params })),
  );
  serve(
    routes,
    {
      ...reporting,
      path: "/v1/calls/{key}/result",
      summary: "Report that the claimed call succeeded",
      body: resultBodySchema,
      answer: CALL,
    },
    async (context, { params, body: { result, ...proof } }) =>
      json(await endCall(site, context, { ...proof, ...params, end: { kind: "succeeded", result } })),
  );
  serve(
    routes,
    {
      ...reporting,
      path: "/v1/calls/{key}/failure",
      summary: "Report that the claimed call failed",
      body: failureBodySchema,
      answer: CALL,
    },
    async (context, { params, body: { error, ...proof } }) =>
      json(await endCall(site, context, { ...proof, ...params, end: { kind: "failed", error: { error } } })),
  );
}

function json(value: object): Response {
  return Response.json(value, { headers: NO_STORE });
}
