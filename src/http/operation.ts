import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CountersignError, type JsonValue, parseJson } from "../protocol/index.ts";
import type { HttpEnv } from "./env.ts";
import { problemResponse } from "./problems.ts";
import { problemSchema } from "./schemas/problem.ts";

/** One route as data: what it takes is checked against these schemas, and the OpenAPI document is made of them. */
export interface Operation<Path, Query, Body> {
  readonly method: "get" | "post" | "delete" | "patch" | "put";
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly params?: z.ZodType<Path>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Request headers that it reads, each with its meaning. */
  readonly headers?: { readonly [name: string]: string };
  readonly answer: {
    readonly description: string;
    readonly schema?: z.ZodType;
    /** `application/json` unless given. */
    readonly type?: string;
  };
  /** Statuses of the problems that it may answer with, beside those that every route may. */
  readonly problems?: readonly number[];
}

/** A checked request. */
export interface Input<Path, Query, Body> {
  readonly params: Path;
  readonly query: Query;
  readonly body: Body;
}

/** A group of routes that knows its part of the OpenAPI document. */
export function newRoutes(): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>();
}

/** Serves an operation and puts it in the OpenAPI document. What does not fit its schemas never reaches the handler. */
export function serve<Path = unknown, Query = unknown, Body = unknown>(
  routes: OpenAPIHono<HttpEnv>,
  operation: Operation<Path, Query, Body>,
  handle: (context: Context<HttpEnv>, input: Input<Path, Query, Body>) => Response | Promise<Response>,
): void {
  routes.openAPIRegistry.registerPath(toRouteConfig(operation));
  const path = operation.path.replaceAll(/\{(.+?)\}/g, ":$1");
  routes.on(operation.method.toUpperCase(), path, async (context) => {
    const { params, query, body } = operation;
    return handle(context, {
      params: checked(params, context.req.param(), "path"),
      query: checked(query, queriesOf(context), "query"),
      body: body === undefined ? (undefined as Body) : checked(body, await readJson(context), "body"),
    });
  });
}

/** Answers every other method on the paths of these routes with 405. Call it after the last of them is served. */
export function refuseOtherMethods(routes: OpenAPIHono<HttpEnv>): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of routes.routes) {
    if (method === "ALL") continue;
    methods.set(path, (methods.get(path) ?? new Set()).add(method));
  }
  for (const [path, known] of methods) {
    const allow = [...known, ...(known.has("GET") ? ["HEAD"] : [])].join(", ");
    routes.all(path, (context) => {
      const message = `${context.req.method} is not supported here.`;
      const error = new CountersignError("method-not-allowed", message, {
        details: { hint: `Possible: ${allow}.` },
      });
      const response = problemResponse(error, context.get("requestId"));
      response.headers.set("allow", allow);
      return response;
    });
  }
}

/** The request's body as JSON; an empty one is `{}`. Throws `malformed-json`. */
export async function readJson(context: Context<HttpEnv>): Promise<JsonValue> {
  const bytes = await context.req.arrayBuffer();
  if (bytes.byteLength === 0) return {};
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CountersignError("malformed-json", "The body is not UTF-8.", { cause: error });
  }
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw new CountersignError("malformed-json", parsed.message);
}

function checked<T>(schema: z.ZodType<T> | undefined, value: unknown, place: string): T {
  if (schema === undefined) return undefined as T;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = (issue?.path ?? []).map(String).join(".");
  const said = issue?.message ?? "it is invalid";
  const where = field === "" ? `The ${place}` : `\`${field}\` in the ${place}`;
  throw new CountersignError("malformed-request", `${where}: ${said}.`, {
    details: field === "" ? {} : { field },
  });
}

function queriesOf(context: Context<HttpEnv>): Record<string, string | string[]> {
  const found = Object.entries(context.req.queries());
  return Object.fromEntries(found.map(([name, all]) => [name, all.length === 1 ? (all[0] ?? "") : all]));
}

const EVERY_ROUTE = [401, 403, 422, 429, 500] as const;

const PROBLEM_TITLES: Readonly<Record<number, string>> = {
  400: "The body is not JSON, or the cursor is invalid",
  401: "Not authenticated",
  403: "Not allowed",
  404: "Not found, or not visible to you",
  408: "The request took too long to arrive",
  409: "Conflicts with the current state",
  412: "The confirmation has changed since you read it",
  413: "The body is too large",
  415: "The body is not application/json",
  422: "The request is invalid",
  429: "Too many requests",
  500: "Internal error",
  503: "The database or the server is temporarily unavailable",
};

function toRouteConfig(operation: Operation<unknown, unknown, unknown>): RouteConfig {
  const { method, path, summary, tag, params, query, body, answer, problems = [] } = operation;
  const ofBody = body === undefined ? [] : [400, 413, 415];
  const statuses = [...EVERY_ROUTE, ...ofBody, ...problems].toSorted((a, b) => a - b);
  const content = { "application/problem+json": { schema: problemSchema } };
  const refused: RouteConfig["responses"] = {};
  for (const status of statuses) {
    refused[status] = { description: PROBLEM_TITLES[status] ?? "A problem", content };
  }
  const { description, schema, type = "application/json" } = answer;
  return {
    method,
    path,
    summary,
    tags: [tag],
    request: {
      ...(params === undefined ? {} : { params: params as z.ZodObject }),
      ...(query === undefined ? {} : { query: query as z.ZodObject }),
      ...(body === undefined ? {} : { body: bodyOf(body) }),
      ...(operation.headers === undefined ? {} : { headers: headerParameters(operation.headers) }),
    },
    responses: {
      200: { description, ...(schema === undefined ? {} : { content: { [type]: { schema } } }) },
      ...refused,
    },
  };
}

// A request without a body counts as `{}`.
function bodyOf(schema: z.ZodType): NonNullable<NonNullable<RouteConfig["request"]>["body"]> {
  const required = !schema.safeParse({}).success;
  return { required, content: { "application/json": { schema } } };
}

/** Schemas that were described are kept by their library for ever: each is made once, however many apps there are. */
const headerSchemas = new Map<string, z.ZodObject>();

function headerParameters(headers: { readonly [name: string]: string }): z.ZodObject {
  const text = JSON.stringify(headers);
  const known = headerSchemas.get(text) ?? headerSchema(headers);
  headerSchemas.set(text, known);
  return known;
}

function headerSchema(headers: { readonly [name: string]: string }): z.ZodObject {
  const named = Object.entries(headers).map(([name, description]) => [
    name,
    z.string().optional().openapi({ description }),
  ]);
  return z.object(Object.fromEntries(named) as z.ZodRawShape);
}
