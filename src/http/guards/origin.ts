import type { Context, MiddlewareHandler } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { addHeaders } from "./answer-headers.ts";
import { hostOf } from "./host.ts";

const WRITES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

export interface OriginOptions {
  readonly publicUrl: string | undefined;
  /** Pages of other origins that may call this server; `*` is all of them. */
  readonly allowOrigins: readonly string[];
}

/** Where a request comes from, as the browser says it. Whoever is no browser says nothing. */
export type From = "own" | "allowed" | "foreign";

/** Does a request come from a page of ours, of one that is allowed, or of another? */
export function originOf(request: Request, { publicUrl, allowOrigins }: OriginOptions): From {
  const origin = request.headers.get("origin");
  if (origin === null) return isForeignFetch(request) ? "foreign" : "own";
  if (isOwnOrigin(origin, hostOf(request), publicUrl)) return "own";
  return allowOrigins.some((allowed) => allowed === "*" || allowed === origin) ? "allowed" : "foreign";
}

function isOwnOrigin(origin: string, host: string, publicUrl: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: from } = new URL(origin);
  const ours = publicUrl === undefined ? undefined : new URL(publicUrl);
  return from !== "" && from === ours?.host ? origin === ours.origin : from === host;
}

// Following a link sends no origin, and is how people get here; everything else that a foreign page starts is not.
function isForeignFetch({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return false;
  return headers.get("sec-fetch-mode") !== "navigate";
}

/** Refuses writes of foreign pages, and answers the questions of browsers about pages that are allowed. */
export function checkOrigin(options: OriginOptions): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { raw } = context.req;
    const from = originOf(raw, options);
    const isPreflight = raw.method === "OPTIONS" && raw.headers.has("access-control-request-method");
    if (from === "foreign" && (isPreflight || WRITES.has(raw.method))) throw foreignOrigin(raw);
    if (from === "allowed" && isPreflight) return preflightAnswer(raw, options);
    await next();
    if (from === "allowed") admitOrigin(context, options);
    return undefined;
  };
}

/** What a page of another origin is told. */
export function foreignOrigin(request: Request): CountersignError {
  const origin = request.headers.get("origin") ?? "another site";
  return new CountersignError("foreign-origin", `A page of ${origin} may not do this.`, {
    details: { hint: "Open the server's own page, or allow that origin in the server's settings." },
  });
}

function preflightAnswer(request: Request, options: OriginOptions): Response {
  const asked = request.headers.get("access-control-request-headers");
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": namedOrigin(request, options),
      "access-control-allow-methods": "GET,HEAD,PUT,PATCH,POST,DELETE",
      ...(asked === null ? {} : { "access-control-allow-headers": asked }),
      vary: "Origin, Access-Control-Request-Headers",
    },
  });
}

function admitOrigin(context: Context<HttpEnv>, options: OriginOptions): void {
  addHeaders(context, {
    "access-control-allow-origin": namedOrigin(context.req.raw, options),
    "access-control-expose-headers": "etag, retry-after, x-request-id",
  });
  context.res.headers.append("vary", "Origin");
}

function namedOrigin(request: Request, { allowOrigins }: OriginOptions): string {
  return allowOrigins.includes("*") ? "*" : (request.headers.get("origin") ?? "");
}
