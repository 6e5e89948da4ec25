import { CountersignError } from "../../protocol/index.ts";

const SEGMENT = /^[\w-]{1,64}$/;

/** Chooses the tenant by the request's host name: `byHost({ "acme.example": "acme" })`. */
export function byHost(tenants: Readonly<Record<string, string>>): (request: Request) => string | undefined {
  const known = new Map(Object.entries(tenants).map(([host, tenant]) => [host.toLowerCase(), tenant]));
  // A host name may end with a dot, and be written in any case.
  return (request) => known.get(new URL(request.url).hostname.toLowerCase().replace(/\.$/, ""));
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
