import type { Context, MiddlewareHandler } from "hono";
import { isAnybody } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { bearerOf } from "../auth/bearer.ts";
import { tokenIdOf } from "../auth/tokens.ts";
import type { HttpEnv } from "../env.ts";
import { callerAt } from "./caller-address.ts";
import type { TokenBuckets } from "./token-buckets.ts";

/** What may be taken a minute: by whoever said who they are, and by address where nobody did. */
export interface CallerBuckets {
  readonly known: TokenBuckets;
  readonly unknown: TokenBuckets;
}

/**
 * Lets one caller have so many requests a minute, whichever of their tokens they use. Those who have not said who they
 * are are told apart by their address; where it is not known, the server in front has to do this.
 */
export function throttleCallers(
  { known, unknown }: CallerBuckets,
  isUnlimited: (path: string, method: string) => boolean,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    if (isUnlimited(context.req.path, context.req.method)) return next();
    const principal = context.get("principal");
    const { remoteAddress } = context.env;
    if (!isAnybody(principal)) spend(context, known, `${principal.kind} ${principal.id}`);
    else if (remoteAddress !== undefined) spend(context, unknown, callerAt(remoteAddress));
    return next();
  };
}

/** How often it may be failed a minute to log in: from one address, and with one token from anywhere. */
export interface FailureBuckets {
  readonly addresses: TokenBuckets;
  readonly tokens: TokenBuckets;
}

/**
 * Lets one address fail so often a minute to say who it is, and one token be failed with, and then makes them wait.
 * Whoever does say it is never kept out by others who share the address, or who guess at their token. Where the
 * address is not known, the server in front has to do this.
 */
export function throttleFailures(
  { addresses, tokens }: FailureBuckets,
  isLogin: (path: string) => boolean,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    await next();
    const { remoteAddress } = context.env;
    const { raw, path } = context.req;
    const isTry = raw.headers.has("authorization") || isLogin(path);
    if (context.res.status !== 401 || !isTry) return;
    const token = context.get("triedToken") ?? tokenIdOf(bearerOf(raw) ?? "");
    if (remoteAddress !== undefined) spend(context, addresses, callerAt(remoteAddress));
    if (token !== undefined) spend(context, tokens, token);
  };
}

/** Lets one address begin so many logins at an issuer a minute: each of them is remembered for a while. */
export function throttleLogins(
  buckets: TokenBuckets,
  isLogin: (path: string) => boolean,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { remoteAddress } = context.env;
    // A HEAD is answered as a GET is.
    const isBeginning = context.req.method !== "POST" && isLogin(context.req.path);
    if (isBeginning && remoteAddress !== undefined) spend(context, buckets, callerAt(remoteAddress));
    return next();
  };
}

function spend(context: Context<HttpEnv>, buckets: TokenBuckets, key: string): void {
  const waitMs = buckets.take(key);
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  context.set("retryAfterSeconds", seconds);
  throw new CountersignError("rate-limited", `Too many requests. Try again in ${seconds} s.`);
}
