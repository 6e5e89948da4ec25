import type { Context, MiddlewareHandler } from "hono";
import { isAnybody } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { bearerOf } from "../auth/bearer.ts";
import { tokenIdOf } from "../auth/tokens.ts";
import type { HttpEnv } from "../env.ts";
import { callerAt } from "./caller-address.ts";
import type { TokenBuckets } from "./token-buckets.ts";

/** Requests per minute: per principal, and per address without a login. */
export interface CallerBuckets {
  readonly known: TokenBuckets;
  readonly unknown: TokenBuckets;
}

/**
 * Limits the requests per minute of one caller, whichever of their tokens they use. Callers without a login are limited
 * by address; if it is not known, the server in front must do this.
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

/** Limits the requests per minute of all callers together, if the server in front has such a limit. */
export function throttleTogether({
  isUnlimited,
  isEntry,
}: {
  readonly isUnlimited: (path: string, method: string) => boolean;
  /** Where channels send what people answered: it proves itself, and nobody is logged in. */
  readonly isEntry: (path: string) => boolean;
}): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { path, method } = context.req;
    if (isUnlimited(path, method)) return next();
    const stranger = isEntry(path) ? "channel" : "stranger";
    const sender = isAnybody(context.get("principal")) ? stranger : "known";
    const waitMs = context.env.takeShared?.(sender) ?? 0;
    if (waitMs > 0) throw tooMany(context, waitMs, "This tenant has used up its requests per minute.");
    return next();
  };
}

/** Failed logins per minute: from one address, and with one token from any address. */
export interface FailureBuckets {
  readonly addresses: TokenBuckets;
  readonly tokens: TokenBuckets;
}

/**
 * Limits failed logins per minute, by address and by token, and failed proofs at the entries of mounts. A valid credential is never locked out by others who share
 * the address or who guess at the token. If the address is not known, the server in front must do this.
 */
export function throttleFailures(
  { addresses, tokens }: FailureBuckets,
  isProof: (path: string) => boolean,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    await next();
    const { remoteAddress } = context.env;
    const { raw, path } = context.req;
    const isTry = raw.headers.has("authorization") || isProof(path);
    if (context.res.status !== 401 || !isTry) return;
    const token = context.get("triedToken") ?? tokenIdOf(bearerOf(raw) ?? "");
    if (remoteAddress !== undefined) spend(context, addresses, callerAt(remoteAddress));
    if (token !== undefined) spend(context, tokens, token);
  };
}

/** Limits how many logins at an issuer one address may start per minute, because each is stored for a while. */
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
  if (waitMs > 0) throw tooMany(context, waitMs, "Too many requests.");
}

function tooMany(context: Context<HttpEnv>, waitMs: number, message: string): CountersignError {
  const seconds = Math.ceil(waitMs / 1000);
  context.set("retryAfterSeconds", seconds);
  return new CountersignError("rate-limited", `${message} Try again in ${seconds} s.`);
}
