import type { OpenAPIHono } from "@hono/zod-openapi";
import { countStatistics, type Principal, type Sight, viewsAs } from "../../engine/index.ts";
import { maySee } from "../approvals/visibility.ts";
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
    async (context, { query: { days = DEFAULT_DAYS, maxAge } }) => {
      requireScope(context, "read", "decide", "metrics", "admin");
      const principal = context.get("principal");
      const of = hasScope(principal, "metrics", "admin") ? "everybody" : principal;
      const sight = of === "everybody" ? {} : { sight: await sightOf(site, of) };
      // Before a standby is looked for: what is counted now, it has then too.
      const readDays = await countStatistics(await site.ledger());
      const numbers = await site.lists.read({ maxAge }, (lists) => readDays(lists, { days, of, ...sight }));
      return Response.json(numbers, { headers: NO_STORE });
    },
  );
}

/** Each app's policy says which logins are one person; it counts for the questions of that app only. */
async function sightOf(site: Site, principal: Principal): Promise<Sight> {
  const countingOf = await site.countingByApp();
  const directories = (await site.countings()).map(({ directory }) => directory);
  return {
    viewers: [...new Set(directories.flatMap((directory) => viewsAs(principal, directory)))],
    isSeen: (confirmation) =>
      directories.length === 1 || maySee(confirmation, principal, countingOf(confirmation.app)),
  };
}
