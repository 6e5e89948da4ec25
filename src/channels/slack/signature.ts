import { createHmac, timingSafeEqual } from "node:crypto";
import type { InboundRequest } from "../inbound.ts";

const VERSION = "v0";
const MOST_SKEW_SECONDS = 300;
const SECONDS = /^\d{1,12}$/;

/** Slack's signature of a request: over the time that it names and the exact bytes of its body. */
export function signSlack(signingSecret: string, timestamp: string, body: Uint8Array): string {
  const mac = createHmac("sha256", signingSecret).update(`${VERSION}:${timestamp}:`).update(body);
  return `${VERSION}=${mac.digest("hex")}`;
}

/** Is the request Slack's, and not more than five minutes from now? `now` is in milliseconds. */
export function isFromSlack(
  { headers, body }: Pick<InboundRequest, "headers" | "body">,
  signingSecret: string,
  now: number,
): boolean {
  const timestamp = headers.get("x-slack-request-timestamp") ?? "";
  if (!SECONDS.test(timestamp)) return false;
  if (Math.abs(Math.floor(now / 1_000) - Number(timestamp)) > MOST_SKEW_SECONDS) return false;
  const expected = Buffer.from(signSlack(signingSecret, timestamp, body));
  const found = Buffer.from(headers.get("x-slack-signature") ?? "");
  return found.length === expected.length && timingSafeEqual(found, expected);
}
