import { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";

/** The ADK API server's routes, as its clients know them. */
export function adkRoutes(_site: Site): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>();
}
