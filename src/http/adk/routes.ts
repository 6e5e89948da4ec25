import { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";
import { serveEmptyAnswers } from "./empty-answers.ts";
import { onAdkError } from "./errors.ts";
import { serveFollow } from "./follow.ts";
import { serveGraphs } from "./graphs.ts";
import { serveDiscovery } from "./list-apps.ts";
import { serveReasoningEngine } from "./reasoning-engine.ts";
import { serveRun } from "./run.ts";
import { serveRunSse } from "./run-sse.ts";
import { serveSessions } from "./sessions.ts";

/** The ADK API server's routes, as its clients know them. */
export function adkRoutes(site: Site): OpenAPIHono<HttpEnv> {
  const routes = new OpenAPIHono<HttpEnv>();
  routes.onError(onAdkError(site));
  serveDiscovery(routes, site);
  serveSessions(routes, site);
  serveRun(routes, site);
  serveRunSse(routes, site);
  serveFollow(routes, site);
  serveReasoningEngine(routes, site);
  serveGraphs(routes, site);
  serveEmptyAnswers(routes, site);
  return routes;
}
