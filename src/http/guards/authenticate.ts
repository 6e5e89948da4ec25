import type { MiddlewareHandler } from "hono";
import { ANYBODY, type Principal } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Auth } from "../auth/auth.ts";
import type { HttpEnv } from "../env.ts";
import type { Logger } from "../log.ts";
import { foreignOrigin, type OriginOptions, originOf } from "./origin.ts";

export interface AuthenticateOptions extends OriginOptions {
  readonly auth: Auth;
  readonly log: Logger;
  /** Paths that need nobody to be logged in. */
  readonly isOpen: (path: string) => boolean;
  /** Paths with the same answer for everybody: credentials are not looked up there. */
  readonly isUnlimited: (path: string, method: string) => boolean;
}

/**
 * Identifies the caller and refuses unknown ones. What a browser sends automatically (a cookie, or its loopback
 * address) counts only if the request comes from our own page; the cookie counts on no other origin.
 */
export function authenticate(options: AuthenticateOptions): MiddlewareHandler<HttpEnv> {
  const { auth, isOpen, isUnlimited } = options;
  return async (context, next) => {
    const { raw, path, method } = context.req;
    if (isOpen(path) && isUnlimited(path, method)) {
      context.set("principal", ANYBODY);
      return next();
    }
    const open = isOpen(path);
    const principal = await identify(options, raw, context.get("requestId"));
    if (principal === undefined && !open) throw unauthenticated(auth, raw);
    if (principal !== undefined && !open && isMisused(options, raw)) throw foreignOrigin(raw);
    context.set("principal", principal ?? ANYBODY);
    return next();
  };
}

async function identify(
  { auth, log }: AuthenticateOptions,
  request: Request,
  requestId: string,
): Promise<Principal | undefined> {
  try {
    return await auth.authenticate(request);
  } catch (error) {
    // Whether they are who they say cannot be found out, so they are not.
    log.warn({ err: error, requestId }, "authenticating a request failed");
    return undefined;
  }
}

function isMisused(options: AuthenticateOptions, request: Request): boolean {
  const { name, login } = options.auth;
  // Our own login uses only that header if it is sent; a host's login may have used a cookie beside it.
  if (name !== "none" && name !== "host" && request.headers.has("authorization")) return false;
  const from = originOf(request, options);
  return from === "foreign" || (from === "allowed" && login !== undefined);
}

function unauthenticated({ login }: Auth, request: Request): CountersignError {
  const isProven = request.headers.has("authorization") || request.headers.has("cookie");
  const message = isProven ? "The credentials are invalid or expired." : "Authentication is required.";
  const hint =
    login === undefined ? {} : { hint: "Send a token as Authorization: Bearer, or log in at /auth/login." };
  return new CountersignError("unauthenticated", message, { details: hint });
}
