import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { newRoutes, refuseOtherMethods, serve } from "../operation.ts";
import type { Site } from "../site.ts";
import { serveMetrics } from "../telemetry/routes.ts";

const ANSWER_MS = 1_000;
const statusSchema = z.object({ status: z.literal("ok") });

/** Is the process alive, and can it serve? For machines without a login. */
export function healthRoutes(site: Site): OpenAPIHono<HttpEnv> {
  const routes = newRoutes();
  const about = { method: "get", tag: "operations" } as const;
  const alive = { description: "The process answers", schema: statusSchema };
  serve(routes, { ...about, path: "/healthz", summary: "Is the process alive?", answer: alive }, (context) =>
    context.json({ status: "ok" }),
  );
  let checking: Promise<void> | undefined;
  const ready = { description: "It accepts requests", schema: statusSchema };
  const summary = "Is the process ready: does the database answer, and is it not shutting down?";
  serve(routes, { ...about, path: "/readyz", summary, answer: ready, problems: [503] }, async (context) => {
    // However many requests come, only one database check runs at a time.
    checking ??= checkReady(site).finally(() => {
      checking = undefined;
    });
    await checking;
    return context.json({ status: "ok" });
  });
  serveMetrics(routes, site);
  refuseOtherMethods(routes);
  return routes;
}

async function checkReady(site: Site): Promise<void> {
  if (site.draining) throw new CountersignError("closed", "This process is shutting down.");
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new CountersignError("ledger-unreachable", "The database did not answer within one second."));
  }, ANSWER_MS);
  try {
    await Promise.race([answers(site), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function answers(site: Site): Promise<void> {
  const engine = await site.engine();
  await engine.ledger.journal.lastCheckpoint();
  await engine.ready();
}
