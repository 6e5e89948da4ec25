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
  /** Paths of which everybody gets the same: what a flood says of itself there is not looked up. */
  readonly isUnlimited: (path: string, method: string) => boolean;
}

/**
 * Finds out who asks, and turns away whoever cannot say. What a browser sends by itself, a cookie or just its being on
 * this machine, counts only where the page that made it send that is ours; the cookie on no other origin at all.
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
  // Our own logins go by that header alone where it is sent; a host's may have gone by a cookie beside it.
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
