import type { Context, MiddlewareHandler } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { addHeaders } from "./answer-headers.ts";
import { hostOf } from "./host.ts";

/** Every other method counts as a write. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export interface OriginOptions {
  readonly publicUrl: string | undefined;
  /** Pages of other origins that may call this server; `*` is all of them. */
  readonly allowOrigins: readonly string[];
}

/** Where a request comes from, according to the browser. Other clients do not say. */
export type From = "own" | "allowed" | "foreign";

/**
 * Does a request come from our page, from an allowed page, or from another? All headers must agree: one that names
 * another page makes the request foreign.
 */
export function originOf(request: Request, { publicUrl, allowOrigins }: OriginOptions): From {
  const origin = request.headers.get("origin");
  const isOwn = (said: string): boolean => isOwnOrigin(said, hostOf(request), publicUrl);
  if (origin === null) return isBegunHere(request, isOwn) ? "own" : "foreign";
  if (isOwn(origin)) return isSaidOfOurs(request) && isFromOurPage(request, isOwn) ? "own" : "foreign";
  return allowOrigins.some((allowed) => allowed === "*" || allowed === origin) ? "allowed" : "foreign";
}

function isOwnOrigin(origin: string, host: string, publicUrl: string | undefined): boolean {
  const { protocol, host: from, origin: written } = URL.parse(origin) ?? {};
  if (from === undefined || written !== origin || !/^https?:$/.test(protocol ?? "")) return false;
  const ours = publicUrl === undefined ? undefined : new URL(publicUrl);
  return from === ours?.host ? origin === ours.origin : from === host;
}

// Browsers send the origin with every write, but not with every read, such as following a link.
function isBegunHere(request: Request, isOwn: (origin: string) => boolean): boolean {
  if (!READS.has(request.method)) return isSaidOfOurs(request) && isFromOurPage(request, isOwn);
  const site = request.headers.get("sec-fetch-site");
  return isSaidOfOurs(request) || site === "none" || isFollowedLink(request);
}

/** Does the browser say that our page sends this? Other clients do not say. */
function isSaidOfOurs({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return site === null || site === "same-origin";
}

/** A navigation in its own tab; not a frame, an image or a script. */
function isFollowedLink({ headers }: Request): boolean {
  const dest = headers.get("sec-fetch-dest");
  return headers.get("sec-fetch-mode") === "navigate" && (dest === null || dest === "document");
}

function isFromOurPage({ headers }: Request, isOwn: (origin: string) => boolean): boolean {
  const referer = headers.get("referer");
  return referer === null || isOwn(URL.parse(referer)?.origin ?? "");
}

/** Refuses writes of foreign pages, and answers CORS preflights for allowed pages. */
export function checkOrigin(options: OriginOptions): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { raw } = context.req;
    const from = originOf(raw, options);
    const isPreflight = raw.method === "OPTIONS" && raw.headers.has("access-control-request-method");
    if (from === "foreign" && (isPreflight || !READS.has(raw.method))) throw foreignOrigin(raw);
    if (from === "allowed" && isPreflight) return preflightAnswer(raw, options);
    await next();
    if (from === "allowed") admitOrigin(context, options);
    return undefined;
  };
}

/** The error for a page of another origin. */
export function foreignOrigin(request: Request): CountersignError {
  const origin = request.headers.get("origin") ?? "another site";
  return new CountersignError("foreign-origin", `Pages from ${origin} may not call this server.`, {
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
