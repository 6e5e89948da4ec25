import type { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import type { AdkError } from "./errors.ts";
import { readSession } from "./sessions.ts";

const SESSION = "/apps/:app/users/:user/sessions/:session";

/**
 * What user interfaces ask for and this server does not store: artifacts, traces, evaluations. They get empty answers.
 * These routes are not in the OpenAPI document.
 */
export function serveEmptyAnswers(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  routes.get(`${SESSION}/artifacts`, async (context) => {
    await readSession(site, context);
    return context.json([]);
  });
  routes.get(`${SESSION}/artifacts/:name/versions`, async (context) => {
    await readSession(site, context);
    return context.json([]);
  });
  routes.get(`${SESSION}/artifacts/:name`, async (context) => {
    await readSession(site, context);
    return context.json(nothingThere(`Artifact not found: ${context.req.param("name")}`), 404);
  });
  for (const path of ["/debug/trace/session/:id", "/dev/apps/:app/debug/trace/session/:id"]) {
    routes.get(path, (context) => {
      requireScope(context, "read");
      return context.json([]);
    });
  }
  routes.get("/debug/trace/:event", (context) => {
    requireScope(context, "read");
    return context.json(nothingThere("Trace not found"), 404);
  });
  for (const path of ["/dev/apps/:app/eval_sets", "/dev/apps/:app/eval_results"]) {
    routes.get(path, (context) => context.json([]));
  }
  for (const path of ["/apps/:app/eval_sets", "/apps/:app/eval_results", "/apps/:app/eval_metrics"]) {
    routes.get(path, (context) => context.json(nothingThere("Not implemented"), 501));
  }
}

function nothingThere(error: string): AdkError {
  return { error, code: "unknown-route" };
}
