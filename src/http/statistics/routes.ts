import type { OpenAPIHono } from "@hono/zod-openapi";
import { readStatistics } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import { statisticsQuerySchema, statisticsSchema } from "../schemas/statistics.ts";
import { hasScope, requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";

const DEFAULT_DAYS = 30;
const NO_STORE = { "cache-control": "no-store" };

/**
 * Numbers about questions and decisions. Everybody's, with the names of tools and approvers, are for those who may read
 * the metrics. Everyone else gets the numbers of their own decisions, and of what waits that they may see.
 */
export function serveStatistics(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  serve(
    routes,
    {
      method: "get",
      path: "/v1/stats",
      summary: "Numbers about questions and decisions: what waits, how long decisions took, rates",
      tag: "statistics",
      query: statisticsQuerySchema,
      answer: {
        description: "Everybody's with the scope `metrics` or `admin`, else of your own decisions",
        schema: statisticsSchema,
      },
    },
    async (context, { query: { days = DEFAULT_DAYS } }) => {
      requireScope(context, "read", "decide", "metrics", "admin");
      const principal = context.get("principal");
      const of = hasScope(principal, "metrics", "admin") ? "everybody" : principal;
      const { directory } = await site.counting();
      return Response.json(await readStatistics(await site.ledger(), { days, of, directory }), {
        headers: NO_STORE,
      });
    },
  );
}
