import type { MiddlewareHandler } from "hono";
import { CountersignError } from "../../protocol/index.ts";
import type { Auth } from "../auth/auth.ts";
import { isLoopback } from "../auth/safe-bind.ts";
import type { HttpEnv } from "../env.ts";

export interface HostOptions {
  readonly auth: Pick<Auth, "name">;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
  /** Paths that say nothing about anybody, and that are asked for under whatever name. */
  readonly exempt: (path: string) => boolean;
}

/** Stands for the host of a request that names none, as HTTP/1.0 allows: it is nobody's name. */
export const NO_HOST = "no-host.invalid";

/** The host that a request was sent to, with its port where it says one. */
export function hostOf(request: Request): string {
  return request.headers.get("host") ?? new URL(request.url).host;
}

/**
 * Answers only to this server's own names, so that a page whose name was pointed at this machine (DNS rebinding) gets
 * nowhere. Without a login those are the loopback names. With one and no `publicUrl` every name will do: what such a
 * page lacks is the credential.
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
