import type { MiddlewareHandler } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { Auth } from "../auth/auth.ts";
import { isLoopback } from "../auth/safe-bind.ts";
import type { HttpEnv } from "../env.ts";

export interface HostOptions {
  readonly auth: Pick<Auth, "name">;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
  /** Public paths that are requested under any host name. */
  readonly exempt: (path: string) => boolean;
}

/** The host of a request without one, as HTTP/1.0 allows: it matches no name. */
export const NO_HOST = "no-host.invalid";

/** The host that a request was sent to, with its port where it says one. */
export function hostOf(request: Request): string {
  return request.headers.get("host") ?? new URL(request.url).host;
}

/**
 * Answers only to this server's own host names, to prevent DNS rebinding. Without a login these are the loopback names.
 * With a login and no `publicUrl` every name is accepted, because such a page has no credential.
 */
export function checkHost(options: HostOptions): MiddlewareHandler<HttpEnv> {
  const isOurs = ownHosts(options);
  return async (context, next) => {
    const name = nameOf(hostOf(context.req.raw));
    const isKnown = isOurs === undefined ? name !== NO_HOST : name !== undefined && isOurs(name);
    if (isKnown || options.exempt(context.req.path)) return next();
    throw new CountersignError("foreign-host", `This server does not accept the host name "${name ?? ""}".`, {
      details: { hint: "Use the server's own address, or add the name to its allowed hosts." },
    });
  };
}

function ownHosts({ auth, publicUrl, allowedHosts }: HostOptions): ((name: string) => boolean) | undefined {
  const named = new Set(allowedHosts.map((host) => nameOf(host) ?? host));
  if (auth.name === "none") return (name) => isLoopback(name) || named.has(name);
  if (publicUrl === undefined && named.size === 0) return undefined;
  if (publicUrl !== undefined) named.add(new URL(publicUrl).hostname);
  return (name) => named.has(name);
}

function nameOf(host: string): string | undefined {
  return URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : undefined;
}
