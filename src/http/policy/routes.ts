import type { OpenAPIHono } from "@hono/zod-openapi";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import { replayBodySchema, replayReportSchema } from "../schemas/policy.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";

const NO_STORE = { "cache-control": "no-store" };

/** Compares a policy with past decisions. It reads the whole journal, so only administrators may. */
export function servePolicy(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  let isBusy = false;
  serve(
    routes,
    {
      method: "post",
      path: "/v1/policy/replay",
      summary: "Judge past calls by another policy, and compare with what people decided",
      tag: "policy",
      body: replayBodySchema,
      answer: {
        description: "What would have been different. Nothing is changed",
        schema: replayReportSchema,
      },
      problems: [400, 404],
    },
    async (context, { body: { policy, days } }) => {
      requireScope(context, "admin");
      const { replay } = site;
      if (replay === undefined)
        throw new CountersignError("unknown-route", "This server cannot replay policies.");
      if (isBusy)
        throw new CountersignError(
          "rate-limited",
          "A policy is being replayed. Try again when that is done.",
        );
      isBusy = true;
      try {
        const signal = AbortSignal.any([context.req.raw.signal, site.closing]);
        const report = await replay(await site.ledger(), { policy, days, signal });
        return Response.json(report, { headers: NO_STORE });
      } finally {
        isBusy = false;
      }
    },
  );
}
