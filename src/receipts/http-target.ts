import { signWebhook } from "../channels/webhook/index.ts";
import type { Clock, Kept, Receipt, ReceiptTarget } from "../engine/index.ts";

const TYPE = "ledger.receipt";

/**
 * Posts receipts as signed JSON (Standard Webhooks). Any 2xx means that it is safe there; everything else is tried again
 * with the same `webhook-id`. Redirects are not followed, and the answer's body is not read.
 */
export function httpTarget(
  name: string,
  {
    url,
    keys,
    clock,
    timeoutMs,
  }: {
    readonly url: URL;
    readonly keys: readonly Uint8Array[];
    readonly clock: Clock;
    readonly timeoutMs: number;
  },
): ReceiptTarget {
  return {
    name,
    async keep(receipt, signal) {
      const body = JSON.stringify({ type: TYPE, timestamp: receipt.at, data: receipt });
      const id = messageId(receipt);
      const timestamp = Math.floor(clock.now() / 1_000);
      const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
      try {
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
          signal: AbortSignal.any(limits),
        });
        // The answer's body is not needed, and could be endless.
        await response.body?.cancel().catch(() => {});
        return toKept(response, url);
      } catch {
        // The URL may contain a token, so only its origin is shown.
        return { ok: false, reason: `${url.origin} could not be reached, or did not answer in time.` };
      }
    },
  };
}

/** The same for the same receipt, so that a receiver knows one that comes again. */
function messageId({ ledger, target, number }: Receipt): string {
  return `receipt_${ledger}_${target}_${number}`;
}

function toKept({ ok, status }: Response, { origin }: URL): Kept {
  return ok ? { ok } : { ok: false, reason: `${origin} answered ${status}.` };
}
