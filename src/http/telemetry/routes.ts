import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import { serve } from "../operation.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { METRICS } from "./catalog.ts";
import { readLedgerSamples } from "./ledger-samples.ts";
import { PROMETHEUS_TYPE, toPrometheus } from "./prometheus.ts";

/** The metrics of this process and the ledger, for Prometheus. */
export function serveMetrics(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const operation = {
    method: "get",
    path: "/metrics",
    summary: "Metrics in the Prometheus text format",
    tag: "operations",
    answer: { description: "Every metric", schema: z.string(), type: "text/plain" },
    problems: [503],
  } as const;
  serve(routes, operation, async (context) => {
    // The metrics cover everybody's work, so the scope `read` is not enough.
    requireScope(context, "metrics", "admin");
    const read = await readLedgerSamples(await site.ledger());
    const text = toPrometheus((metric) => {
      return METRICS[metric].readFrom === undefined ? site.metrics.samples(metric) : read(metric);
    });
    return new Response(text, { headers: { "content-type": PROMETHEUS_TYPE, "cache-control": "no-store" } });
  });
}
