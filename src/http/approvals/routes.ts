import { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";

/** The approvals API: what waits, one confirmation, decisions, the live stream. */
export function approvalRoutes(_site: Site): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>();
}
