/**
 * Signed messages over HTTP, as the Standard Webhooks specification has them: for the webhook channel and for receipts.
 * Decided here: how a message is signed and posted, and which secrets sign it.
 */
export { postSigned, type SignedAddress } from "./post-signed.ts";
export { keptWebhookSecret, type WebhookSecrets, webhookSecrets } from "./secret.ts";
export { isSigned, newWebhookSecret, parseWebhookSecret, signWebhook } from "./signature.ts";
