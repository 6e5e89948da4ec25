import { CountersignError } from "../../protocol/index.ts";

const SEGMENT = /^[\w-]{1,64}$/;

const PLACE = "{tenant}";

/**
 * Chooses the tenant by the request's host name: `byHost({ "acme.example": "acme" })`, or for all names by a pattern,
 * `byHost("{tenant}.example")`.
 */
export function byHost(
  tenants: string | Readonly<Record<string, string>>,
): (request: Request) => string | undefined {
  const find = typeof tenants === "string" ? inPattern(tenants) : inList(tenants);
  // A host name may end with a dot, and be written in any case.
  return (request) => find(new URL(request.url).hostname.toLowerCase().replace(/\.$/, ""));
}

function inList(tenants: Readonly<Record<string, string>>): (host: string) => string | undefined {
  const known = new Map(Object.entries(tenants).map(([host, tenant]) => [host.toLowerCase(), tenant]));
  return (host) => known.get(host);
}

function inPattern(pattern: string): (host: string) => string | undefined {
  const [before = "", after, ...more] = pattern.toLowerCase().split(PLACE);
  if (after === undefined || more.length > 0) {
    throw new CountersignError(
      "invalid-option",
      `Invalid pattern "${pattern}". Write ${PLACE} once, for example "${PLACE}.example.com".`,
    );
  }
  return (host) => {
    if (!host.startsWith(before) || !host.endsWith(after)) return undefined;
    const name = host.slice(before.length, host.length - after.length);
    return SEGMENT.test(name) ? name : undefined;
  };
}

/**
 * Chooses the tenant by the first segment below a path: with `byPath("/t")`, `/t/acme/v1/me` is for `acme`. Create each
 * app with its `basePath`, here `/t/acme`. All tenants then share one origin in the browser; where people log in with
 * a browser, give each tenant a host name instead.
 */
export function byPath(prefix: string): (request: Request) => string | undefined {
  if (!/^(?:\/[\w.~-]+)+$/.test(prefix)) {
    throw new CountersignError(
      "invalid-option",
      `Invalid path "${prefix}". Start it with a slash and do not end with one, for example "/t".`,
    );
  }
  return (request) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith(`${prefix}/`)) return undefined;
    const [name = ""] = pathname.slice(prefix.length + 1).split("/");
    return SEGMENT.test(name) ? name : undefined;
  };
}

const BEARER = /^bearer +(\S+)$/i;

/**
 * Chooses the tenant by the bearer token of a program: `find` maps a token, or a claim in it, to a tenant. That only says where
 * the request goes; whether the token is valid, the tenant's own app decides. Whatever has no token is for no tenant, so
 * give tenants a host name where people log in with a browser or channels bring answers back.
 */
export function byToken(
  find: (token: string) => string | undefined,
): (request: Request) => string | undefined {
  return (request) => {
    const [, token] = BEARER.exec(request.headers.get("authorization") ?? "") ?? [];
    return token === undefined ? undefined : find(token);
  };
}
