import type { OpenAPIHono } from "@hono/zod-openapi";
import { CountersignError } from "../../protocol/index.ts";
import { VIA } from "../approvals/record-refusal.ts";
import { openCursor, sealCursor } from "../cursors.ts";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import { grantPageSchema, grantSchema } from "../schemas/grants.ts";
import { cancellationBodySchema } from "../schemas/inputs.ts";
import { idParamsSchema, pageQuerySchema } from "../schemas/queries.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";

const TAG = "grants";
const NO_STORE = { "cache-control": "no-store" };

/** Grants, for those who may decide such calls and for administrators: list and revoke them. */
export function serveGrants(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/grants",
      summary: "List the grants that you may revoke and that are not over",
      tag: TAG,
      query: pageQuerySchema,
      answer: { description: "Those of one session first, nearest end first", schema: grantPageSchema },
      problems: [400],
    },
    async (context, { query: { cursor, limit } }) => {
      requireScope(context, "read", "decide", "admin");
      const engine = await site.engine();
      const { ledger } = engine;
      const by = context.get("principal");
      const use = { list: "/v1/grants", principal: by };
      const { items, next } = await engine.grants({
        by,
        ...(cursor === undefined ? {} : { cursor: openCursor(ledger, use, cursor) }),
        ...(limit === undefined ? {} : { limit }),
      });
      const page = next === undefined ? { items } : { items, next: sealCursor(ledger, use, next) };
      return Response.json(page, { headers: NO_STORE });
    },
  );
  serve(
    routes,
    {
      method: "post",
      path: "/v1/grants/{id}/revoke",
      summary: "Revoke a grant: no later call runs under it. Repeating it is harmless",
      tag: TAG,
      params: idParamsSchema,
      body: cancellationBodySchema,
      answer: { description: "The grant", schema: grantSchema },
      problems: [404],
    },
    async (context, { params: { id }, body: { reason } }) => {
      requireScope(context, "decide", "admin");
      const acting = { by: context.get("principal"), via: VIA, ...(reason === undefined ? {} : { reason }) };
      const engine = await site.engine();
      const grant = await engine.revokeGrant(id, acting).catch((error: unknown) => {
        // A person who may not revoke it may not see it.
        const hidden = CountersignError.isInstance(error) && error.code === "not-an-approver";
        throw hidden ? new CountersignError("unknown-grant", `There is no grant ${id}.`) : error;
      });
      return Response.json(grant, { headers: NO_STORE });
    },
  );
}
