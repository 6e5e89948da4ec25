import type { Clock } from "../engine/index.ts";
import { signWebhook } from "./signature.ts";

/** Where signed messages go, and what they are signed with. */
export interface SignedAddress {
  readonly url: URL;
  readonly keys: readonly Uint8Array[];
  readonly clock: Clock;
}

/**
 * Posts one message as JSON, signed as the Standard Webhooks specification says. Redirects are not followed, and the
 * answer's body is not read. Rejects if nobody answers.
 */
export async function postSigned(
  { url, keys, clock }: SignedAddress,
  { id, ...message }: { readonly id: string },
  signal: AbortSignal,
): Promise<Response> {
  const body = JSON.stringify(message);
  const timestamp = Math.floor(clock.now() / 1_000);
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      "user-agent": "countersign",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signWebhook({ id, timestamp, body }, keys),
    },
    body,
    signal,
  });
  // The answer's body is not needed, and could be endless.
  await response.body?.cancel().catch(() => {});
  return response;
}
