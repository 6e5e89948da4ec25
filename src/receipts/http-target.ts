import type { Kept, Receipt, ReceiptTarget } from "../engine/index.ts";
import { postSigned, type SignedAddress } from "../webhooks/index.ts";

const TYPE = "ledger.receipt";

/**
 * Posts receipts as signed JSON (Standard Webhooks). Any 2xx means that it is safe there; everything else is tried again
 * with the same `webhook-id`. Redirects are not followed, and the answer's body is not read.
 */
export function httpTarget(
  name: string,
  { timeoutMs, ...address }: SignedAddress & { readonly timeoutMs: number },
): ReceiptTarget {
  const { url } = address;
  return {
    name,
    async keep(receipt, signal) {
      const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
      const message = { id: messageId(receipt), type: TYPE, timestamp: receipt.at, data: receipt };
      try {
        return toKept(await postSigned(address, message, AbortSignal.any(limits)), url);
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
