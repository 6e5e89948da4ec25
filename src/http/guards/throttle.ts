import type { Context, MiddlewareHandler } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import type { TokenBuckets } from "./token-buckets.ts";

/** Lets one caller have so many requests a minute, whichever of their tokens they use. */
export function throttleCallers(buckets: TokenBuckets): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { kind, id } = context.get("principal");
    spend(context, buckets, `${kind} ${id}`);
    return next();
  };
}

/**
 * Lets one address fail so often a minute to say who it is, and then makes it wait. Whoever does say it is never
 * kept out by others who share the address. Where the address is not known, the server in front has to do this.
 */
export function throttleFailures(
  buckets: TokenBuckets,
  isLogin: (path: string) => boolean,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    await next();
    const { remoteAddress } = context.env;
    const isTry = context.req.raw.headers.has("authorization") || isLogin(context.req.path);
    if (context.res.status === 401 && isTry && remoteAddress !== undefined)
      spend(context, buckets, remoteAddress);
  };
}

/** Lets one address begin so many logins at an issuer a minute: each of them is remembered for a while. */
export function throttleLogins(
  buckets: TokenBuckets,
  isLogin: (path: string) => boolean,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { remoteAddress } = context.env;
    const isBeginning = context.req.method === "GET" && isLogin(context.req.path);
    if (isBeginning && remoteAddress !== undefined) spend(context, buckets, remoteAddress);
    return next();
  };
}

function spend(context: Context<HttpEnv>, buckets: TokenBuckets, key: string): void {
  const waitMs = buckets.take(key);
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  context.set("retryAfterSeconds", seconds);
  throw new CountersignError("rate-limited", `Too many requests; the next one is taken in ${seconds} s.`);
}
