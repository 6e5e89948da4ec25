import { AsyncLocalStorage } from "node:async_hooks";
import { CountersignError } from "../../protocol/index.ts";
import type { ToolContext } from "../../runtime/index.ts";

// Headers that belong to the connection itself, and would break it or impersonate another.
const OUR_OWN: ReadonlySet<string> = new Set([
  "accept",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Why a header of that name cannot be passed on; undefined if it can. */
export function whyNotPassed(name: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return `"${name}" is not a valid header name`;
  return OUR_OWN.has(name.toLowerCase()) ? `${name} is set by the connection itself` : undefined;
}

/** Throws `invalid-option` for a name that cannot be passed on. */
export function checkAllowedHeaders(names: readonly string[]): readonly string[] {
  for (const name of names) {
    const why = whyNotPassed(name);
    if (why === undefined) continue;
    throw new CountersignError("invalid-option", `allowedHeaders: ${why}.`, {
      details: { option: "allowedHeaders" },
    });
  }
  return names;
}

/**
 * The allowed headers of the request that started a call's run. Throws if this process does not know them: a call
 * without them would run as somebody else.
 */
export function passedHeaders(
  allowed: readonly string[],
  { requestHeaders }: Pick<ToolContext, "requestHeaders">,
): readonly (readonly [string, string])[] {
  if (allowed.length === 0) return [];
  if (requestHeaders === undefined) {
    throw new CountersignError(
      "internal",
      `it needs headers of the request that started the run (${allowed.join(", ")}). Only the process that received the request has them, for one day. Send the request again`,
    );
  }
  return allowed.flatMap((name) => {
    const value = requestHeaders.get(name.toLowerCase());
    return value === undefined ? [] : [[name, value] as const];
  });
}

const passing = new AsyncLocalStorage<readonly (readonly [string, string])[]>();

/** Adds these headers to all requests of `work`. */
export function withHeaders<T>(headers: readonly (readonly [string, string])[], work: () => T): T {
  return headers.length === 0 ? work() : passing.run(headers, work);
}

/** A `fetch` that adds the headers which its caller passes on. The server's own come first; they follow it nowhere else. */
export function passingFetch(plain: typeof fetch): typeof fetch {
  return async (input, init) => {
    const passed = passing.getStore();
    if (passed === undefined) return plain(input, init);
    const headers = new Headers(init?.headers);
    for (const [name, value] of passed) if (!headers.has(name)) headers.set(name, value);
    return plain(input, { ...init, headers, redirect: "error" });
  };
}
