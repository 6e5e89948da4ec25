import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Sent } from "../failures.ts";
import { isPublicUrl, lookupPublic } from "../public-address.ts";

/** For one device, which may be anybody's server. */
const TIMEOUT_MS = 5_000;
const BUSY: ReadonlySet<number> = new Set([408, 425, 429]);
const GONE: ReadonlySet<number> = new Set([404, 410]);
/** Nothing was sent: there is no connection. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTPUBLIC",
]);

/** One message to one endpoint. */
export interface Posting {
  readonly endpoint: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer<ArrayBuffer>;
}

/** May messages be sent there? Public services, and those that the operator named. */
export function isEndpoint(text: string, services: readonly string[]): boolean {
  const url = URL.parse(text);
  return url !== null && (services.includes(url.origin) || isPublicUrl(url));
}

/**
 * Posts to a push service; "gone" if the device is no longer there. The endpoint is a stranger's word, so its name must
 * lead to a public address. Redirects are not followed, the answer's body is not read, and a `Retry-After` is not
 * obeyed.
 */
export async function postPush(
  { endpoint, headers, body }: Posting,
  { services, signal: stop }: { readonly services: readonly string[]; readonly signal: AbortSignal },
): Promise<Sent | "gone"> {
  if (!isEndpoint(endpoint, services)) return "gone";
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
  const url = new URL(endpoint);
  const isOwn = services.includes(url.origin);
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sending = request(
    url,
    { method: "POST", headers, signal, agent: false, ...(isOwn ? {} : { lookup: lookupPublic }) },
    resolve,
  );
  sending.on("error", reject);
  sending.end(body);
  try {
    const { statusCode = 0 } = await promise;
    return sentAs(statusCode, url);
  } catch (error) {
    const { code = "no answer" } = error as NodeJS.ErrnoException;
    const reason = signal.aborted ? "did not answer in time" : `could not be reached (${code})`;
    return { ok: false, reason: `${url.origin} ${reason}.`, isUnsure: !NOT_SENT.has(code) };
  } finally {
    // The answer's body is not needed, and could be endless.
    sending.destroy();
  }
}

function sentAs(status: number, { origin }: URL): Sent | "gone" {
  if (status >= 200 && status < 300) return { ok: true };
  if (GONE.has(status)) return "gone";
  return {
    ok: false,
    reason: `${origin} answered ${status}.`,
    isUnsure: false,
    ...(isRefusal(status) ? { final: true } : {}),
  };
}

/** The service refuses this message, and will refuse it again. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && !BUSY.has(status);
}
