import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { CountersignError } from "../protocol/index.ts";

const PREFIX = "whsec_";
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NEW_SECRET_BYTES = 32;
const FEWEST_BYTES = 24;
const MOST_BYTES = 64;

/** A secret for signing, as the Standard Webhooks specification writes it. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString("base64");
}

/** The key of a secret. Throws `invalid-option`, without repeating the secret. */
export function parseWebhookSecret(secret: string): Uint8Array {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(text, "base64");
  if (BASE64.test(text) && key.length >= FEWEST_BYTES && key.length <= MOST_BYTES) return key;
  throw new CountersignError(
    "invalid-option",
    `A webhook secret must be "${PREFIX}" followed by ${FEWEST_BYTES} to ${MOST_BYTES} bytes in base64. Create one with: ` +
      `echo ${PREFIX}$(openssl rand -base64 ${NEW_SECRET_BYTES})`,
    { details: { field: "secrets" } },
  );
}

/**
 * The `webhook-signature` header of the Standard Webhooks specification: a `v1` signature over id, time (in seconds)
 * and body for each key, so that a recipient may know the old secret or the new one.
 */
export function signWebhook(
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
  keys: readonly Uint8Array[],
): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return keys.map((key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`).join(" ");
}

/** Is one of these signatures, as the header has them, a `v1` signature of this message with one of the keys? */
export function isSigned(
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: Uint8Array },
  signatures: string,
  keys: readonly Uint8Array[],
): boolean {
  const expected = keys.map((key) =>
    createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest(),
  );
  return signatures.split(" ").some((signature) => {
    const [, text = ""] = /^v1,([A-Za-z0-9+/=]{1,100})$/.exec(signature) ?? [];
    const found = Buffer.from(text, "base64");
    return expected.some((one) => one.length === found.length && timingSafeEqual(one, found));
  });
}
