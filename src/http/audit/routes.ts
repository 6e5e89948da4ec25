import type { OpenAPIHono } from "@hono/zod-openapi";
import { find } from "../approvals/visibility.ts";
import type { HttpEnv } from "../env.ts";
import { newRoutes, refuseOtherMethods, serve } from "../operation.ts";
import { auditPageSchema, sessionVerificationSchema, verificationSchema } from "../schemas/audit.ts";
import { auditQuerySchema, idParamsSchema, verifyQuerySchema } from "../schemas/queries.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { listAudit } from "./list.ts";

const TAG = "audit";
const NO_STORE = { "cache-control": "no-store" };

/** The journal, and whether it verifies. */
export function auditRoutes(site: Site): OpenAPIHono<HttpEnv> {
  const routes = newRoutes();
  serve(
    routes,
    {
      method: "get",
      path: "/v1/audit",
      summary: "Read the journal, oldest record first",
      tag: TAG,
      query: auditQuerySchema,
      answer: { description: "Its records", schema: auditPageSchema },
      problems: [400, 404],
    },
    async (context, { query }) => {
      const principal = context.get("principal");
      const page = await site.lists.read(query, (lists) => listAudit({ site, principal, lists }, query));
      return Response.json(page, { headers: NO_STORE });
    },
  );
  serve(
    routes,
    {
      method: "get",
      path: "/v1/audit/verify",
      summary: "Verify the journal",
      tag: TAG,
      query: verifyQuerySchema,
      answer: {
        description: "What was checked, what was found, and what this check cannot detect",
        schema: verificationSchema,
      },
    },
    async (context, { query: { head } }) => {
      requireScope(context, "admin");
      const engine = await site.engine();
      const found = await engine.verify(head === undefined ? {} : { head });
      return Response.json(found, { headers: NO_STORE });
    },
  );
  serveSessionVerification(routes, site);
  refuseOtherMethods(routes);
  return routes;
}

/** For everyone who may see the confirmation: it says nothing of what the journal holds. */
function serveSessionVerification(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/confirmations/{id}/verification",
      summary: "Verify the journal of the session that a confirmation belongs to",
      tag: TAG,
      params: idParamsSchema,
      answer: {
        description: "Whether each record follows from the one before it, and what this check cannot detect",
        schema: sessionVerificationSchema,
      },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      requireScope(context, "read", "decide", "admin");
      const { session } = await find(site, id, context.get("principal"));
      const found = await (await site.engine()).verifySession(session.key);
      return Response.json(found, { headers: NO_STORE });
    },
  );
}
