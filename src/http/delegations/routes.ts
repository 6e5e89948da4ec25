import type { OpenAPIHono } from "@hono/zod-openapi";
import type { NewDelegation } from "../../engine/index.ts";
import { VIA } from "../approvals/record-refusal.ts";
import type { HttpEnv } from "../env.ts";
import {
  bindKey,
  IDEMPOTENCY_HEADER,
  idempotencyId,
  idempotencyKey,
  keyExpiresAt,
} from "../idempotency/idempotency.ts";
import { serve } from "../operation.ts";
import {
  type DelegationBody,
  delegationBodySchema,
  delegationListSchema,
  delegationSchema,
} from "../schemas/delegations.ts";
import { emptyBodySchema } from "../schemas/inputs.ts";
import { idParamsSchema } from "../schemas/queries.ts";
import { hasScope, requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";

const TAG = "delegations";
const NO_STORE = { "cache-control": "no-store" };
const KEY = {
  [IDEMPOTENCY_HEADER]:
    "Another request with the same key within a day is refused unless it has the same body.",
};
const ONE = { description: "The delegation", schema: delegationSchema };

/** Delegations: people let others vote for them while they are away. */
export function serveDelegations(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/delegations",
      summary: "List the delegations from or to you; administrators see all",
      tag: TAG,
      answer: { description: "The delegations in force", schema: delegationListSchema },
    },
    async (context) => {
      requireScope(context, "decide", "admin");
      const by = context.get("principal");
      const engine = await site.engine();
      const items = await engine.delegations(hasScope(by, "admin") ? {} : { by });
      return Response.json({ items }, { headers: NO_STORE });
    },
  );
  serveMaking(routes, site);
}

function serveMaking(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "post",
      path: "/v1/delegations",
      summary: "Let somebody vote for you until a time, on all questions or some",
      tag: TAG,
      body: delegationBodySchema,
      headers: KEY,
      answer: ONE,
      problems: [400],
    },
    async (context, { body }) => {
      requireScope(context, "decide", "admin");
      const principal = context.get("principal");
      const engine = await site.engine();
      const route = "/v1/delegations";
      const said = JSON.stringify(body);
      await bindKey(context, engine.ledger, { principal, route, said });
      const wanted = toWanted(body);
      const key = idempotencyKey(context);
      const once =
        key === undefined
          ? undefined
          : { id: idempotencyId(principal, route, key, said), expiresAt: keyExpiresAt() };
      const made = await engine.delegate(wanted, { by: principal, via: VIA }, once);
      return Response.json(made, { headers: NO_STORE });
    },
  );
  serve(
    routes,
    {
      method: "post",
      path: "/v1/delegations/{id}/revocation",
      summary: "Revoke a delegation. Votes given through it no longer count",
      tag: TAG,
      params: idParamsSchema,
      body: emptyBodySchema,
      answer: ONE,
      problems: [404],
    },
    async (context, { params: { id } }) => {
      requireScope(context, "decide", "admin");
      const engine = await site.engine();
      const revoked = await engine.revokeDelegation(id, { by: context.get("principal"), via: VIA });
      return Response.json(revoked, { headers: NO_STORE });
    },
  );
}

function toWanted({ from, to, until, scope }: DelegationBody): NewDelegation {
  const { app, tool } = scope ?? {};
  return {
    to,
    until: Date.parse(until),
    ...(from === undefined ? {} : { from }),
    ...(scope === undefined
      ? {}
      : { scope: { ...(app === undefined ? {} : { app }), ...(tool === undefined ? {} : { tool }) } }),
  };
}
