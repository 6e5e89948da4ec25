import { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";

/** The inbox: the built page, with its security headers. */
export function webRoutes(_site: Site): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>();
}
