import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import { requireScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { packageVersion } from "../version.ts";
import { serveAdk } from "./document.ts";

/** What a client asks first: which apps there are, and whether the server is alive. */
export function serveDiscovery(routes: OpenAPIHono<HttpEnv>, site: Site): void {
  const apps = { summary: "The apps of this server.", answer: { schema: z.array(z.string()) } };
  serveAdk(routes, { method: "get", path: "/list-apps", ...apps }, (context) => {
    requireScope(context, "read", "run");
    return context.json(site.appNames);
  });
  const version = {
    summary: "This server's version.",
    answer: { schema: z.object({ version: z.string() }) },
  };
  serveAdk(routes, { method: "get", path: "/version", ...version }, (context) =>
    context.json({ version: packageVersion() }),
  );
  const health = { summary: "Is the server running?", answer: { schema: z.string(), type: "text/plain" } };
  serveAdk(routes, { method: "get", path: "/health", ...health }, (context) => context.text("OK"));
}
