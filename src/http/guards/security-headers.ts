import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "../env.ts";
import { addHeaders } from "./answer-headers.ts";

/** An answer of the API is data: browsers must not load, run, frame or cache it. A page sets its own policy. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
};
const YEAR_SECONDS = 31_536_000;

/** Headers of every answer, refusals included. Over TLS browsers are told to stay with it. */
export function secureAnswers(publicUrl: string | undefined): MiddlewareHandler<HttpEnv> {
  const isSecure = publicUrl?.startsWith("https:") === true;
  const headers = isSecure ? { ...HEADERS, "strict-transport-security": `max-age=${YEAR_SECONDS}` } : HEADERS;
  return async (context, next) => {
    await next();
    addHeaders(context, headers, { unlessSaid: true });
    const retryAfter = context.get("retryAfterSeconds");
    if (retryAfter !== undefined) addHeaders(context, { "retry-after": String(retryAfter) });
    if (context.res.status === 401) addHeaders(context, { "www-authenticate": `Bearer realm="countersign"` });
  };
}
