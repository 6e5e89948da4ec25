export type { WebhookAnswers, WebhookPerson } from "./answers.ts";
export type { WebhookMessage } from "./message.ts";
export { type WebhookSecrets, webhookSecrets } from "./secret.ts";
export { newWebhookSecret, parseWebhookSecret, signWebhook } from "./signature.ts";
export { createWebhookChannel, type WebhookOptions } from "./webhook-channel.ts";
