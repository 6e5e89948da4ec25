import { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";

/** Is the process alive, and can it serve? */
export function healthRoutes(_site: Site): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>().get("/healthz", (context) => context.json({ status: "ok" })) as never;
}
