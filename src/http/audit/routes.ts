import { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";

/** The journal, and whether it verifies. */
export function auditRoutes(_site: Site): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>();
}
