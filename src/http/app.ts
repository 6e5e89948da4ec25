import { OpenAPIHono } from "@hono/zod-openapi";
import type { ErrorHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { onAdkError } from "./adk/errors.ts";
import { adkRoutes } from "./adk/routes.ts";
import { aguiRoutes } from "./agui/routes.ts";
import type { AppOptions, RouteGroup } from "./app-options.ts";
import { approvalRoutes } from "./approvals/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import type { HttpEnv, RequestBindings } from "./env.ts";
import { installGuards } from "./guards/install.ts";
import { healthRoutes } from "./health/routes.ts";
import { heldToLogin } from "./held-to-login.ts";
import { serveOpenApi } from "./openapi.ts";
import { onError, onNotFound } from "./problems.ts";
import { Site } from "./site.ts";
import { installTelemetry } from "./telemetry/install.ts";
import { webRoutes } from "./web/routes.ts";

/** A server as a function from request to response, to be mounted anywhere. */
export interface App {
  fetch(request: Request, bindings?: RequestBindings): Promise<Response>;
  /** From now on `/readyz` fails, so that no new requests are routed here; requests are still answered. */
  leave(): void;
  /** The same, and long-lived streams end. */
  drain(): void;
}

/** Every part of the server, in the order in which it is mounted. */
export const GROUPS: Readonly<Record<RouteGroup, (site: Site) => OpenAPIHono<HttpEnv>>> = {
  health: healthRoutes,
  approvals: approvalRoutes,
  audit: auditRoutes,
  adk: adkRoutes,
  agui: aguiRoutes,
  web: webRoutes,
};

/** Serves apps over HTTP: the ADK's routes, AG-UI, the approvals API and the inbox. */
export function createApp(options: AppOptions): App {
  const site = new Site(options);
  const wanted: ReadonlySet<string> = new Set(options.routes ?? Object.keys(GROUPS));
  // With a base path the inbox is at `/approvals/`; a strict router would treat it as a different path.
  const app = new OpenAPIHono<HttpEnv>({ strict: false }).basePath(site.basePath);
  const adkPaths = new Set<string>();
  app.onError(toldByRoute(site, adkPaths));
  app.notFound(onNotFound);
  installTelemetry(app, site);
  installGuards(app, site, options);
  if (site.auth.login !== undefined) app.route("/", site.auth.login);
  for (const [name, routesOf] of Object.entries(GROUPS)) {
    if (!wanted.has(name)) continue;
    const routes = routesOf(site);
    app.route("/", routes);
    if (name === "adk") for (const path of pathsOf(routes, site)) adkPaths.add(path);
  }
  for (const mount of options.mounts ?? []) {
    app.all(`${mount.path}/*`, async (context) => {
      const left = new AbortController();
      const closing = AbortSignal.any([site.closing, left.signal]);
      const principal = context.get("principal");
      const facts = { principal, closing, takeTurn: () => site.turns.take(principal) };
      return heldToLogin(site, context, await mount.fetch(context.req.raw, facts), () => left.abort());
    });
  }
  serveOpenApi(app, site);
  return {
    // Hono treats a host's second argument as bindings; ours ignores it.
    fetch: async (request, { remoteAddress, takesEncoded = false, takeShared, whenSent } = {}) =>
      app.fetch(request, {
        takesEncoded,
        ...(remoteAddress === undefined ? {} : { remoteAddress }),
        ...(takeShared === undefined ? {} : { takeShared }),
        ...(whenSent === undefined ? {} : { whenSent }),
      }),
    leave: () => site.leave(),
    drain: () => site.drain(),
  };
}

function pathsOf({ routes }: OpenAPIHono<HttpEnv>, { basePath }: Site): readonly string[] {
  const base = basePath === "/" ? "" : basePath;
  return routes.filter(({ path }) => !path.endsWith("*")).map(({ path }) => `${base}${path}`);
}

// A guard refuses before the route is reached; the route's clients still expect their own form of error.
function toldByRoute(site: Site, adkPaths: ReadonlySet<string>): ErrorHandler<HttpEnv> {
  const [asProblem, asAdkError] = [onError(site.log), onAdkError(site)];
  return (error, context) => {
    const isAdk = matchedRoutes(context).some(({ path }) => adkPaths.has(path));
    return isAdk ? asAdkError(error, context) : asProblem(error, context);
  };
}
