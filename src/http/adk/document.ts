import type { OpenAPIHono, RouteConfig, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { HttpEnv } from "../env.ts";
import { IDEMPOTENCY_HEADER } from "../idempotency/idempotency.ts";
import { errorSchema } from "./schemas.ts";

/** One of the ADK's routes as data, for the OpenAPI document. */
export interface AdkRoute {
  readonly method: "get" | "post" | "patch" | "delete";
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** May the request come without a body? */
  readonly bodyOptional?: boolean;
  /** Takes an `Idempotency-Key`. */
  readonly keyed?: boolean;
  readonly answer: { readonly status?: number; readonly schema?: z.ZodType; readonly type?: string };
}

/**
 * Serves a route and puts it in the OpenAPI document. The handler reads the request itself, with the same schemas, so
 * that errors have the ADK's own shape.
 */
export function serveAdk(
  routes: OpenAPIHono<HttpEnv>,
  route: AdkRoute,
  handle: (context: Context<HttpEnv>) => Response | Promise<Response>,
): void {
  routes.openAPIRegistry.registerPath(toRouteConfig(route));
  const path = route.path.replaceAll(/\{(.+?)\}/g, ":$1");
  routes.on(route.method.toUpperCase(), path, async (context) => handle(context));
}

function toRouteConfig({ answer, ...route }: AdkRoute): RouteConfig {
  const { status = 200, schema, type = "application/json" } = answer;
  return {
    method: route.method,
    path: route.path,
    summary: route.summary,
    tags: ["ADK"],
    request: {
      ...(route.params === undefined ? {} : { params: route.params }),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...(route.body === undefined ? {} : { body: bodyOf(route.body, route.bodyOptional !== true) }),
    },
    ...(route.keyed === true ? { parameters: [IDEMPOTENCY_KEY] } : {}),
    responses: {
      [status]: {
        description: status === 204 ? "Done." : "The same answer as the ADK server's.",
        ...(schema === undefined ? {} : { content: { [type]: { schema } } }),
      },
      "4XX": { description: "Refused.", content: { "application/json": { schema: errorSchema } } },
    },
  };
}

function bodyOf(
  schema: z.ZodType,
  required: boolean,
): NonNullable<NonNullable<RouteConfig["request"]>["body"]> {
  return { required, content: { "application/json": { schema } } };
}

const IDEMPOTENCY_KEY = {
  name: IDEMPOTENCY_HEADER,
  in: "header",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  description: "A repeated request with the same key within a day gets the first outcome.",
} as const;
