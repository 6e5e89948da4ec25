import { OpenAPIHono } from "@hono/zod-openapi";
import { adkRoutes } from "./adk/routes.ts";
import type { AppOptions, RouteGroup } from "./app-options.ts";
import { approvalRoutes } from "./approvals/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import type { HttpEnv } from "./env.ts";
import { installGuards } from "./guards/install.ts";
import { healthRoutes } from "./health/routes.ts";
import { onError, onNotFound } from "./problems.ts";
import { Site } from "./site.ts";
import { webRoutes } from "./web/routes.ts";

/** A server as a function from request to response, to be mounted anywhere. */
export interface App {
  fetch(request: Request): Promise<Response>;
}

const GROUPS: Readonly<Record<RouteGroup, (site: Site) => OpenAPIHono<HttpEnv>>> = {
  health: healthRoutes,
  approvals: approvalRoutes,
  audit: auditRoutes,
  adk: adkRoutes,
  web: webRoutes,
};

/** Serves apps over HTTP: the ADK's routes, the approvals API and the inbox. */
export function createApp(options: AppOptions): App {
  const site = new Site(options);
  const wanted: ReadonlySet<string> = new Set(options.routes ?? Object.keys(GROUPS));
  const app = new OpenAPIHono<HttpEnv>().basePath(options.basePath ?? "/");
  app.onError(onError(site.log));
  app.notFound(onNotFound);
  installGuards(app, site, options);
  for (const [name, routes] of Object.entries(GROUPS)) if (wanted.has(name)) app.route("/", routes(site));
  return { fetch: async (request) => app.fetch(request) };
}
