/**
 * Webhooks. Decided here: what a message says, and which answers of a receiver count as a person's decision. Signing and
 * posting are in `webhooks`.
 */

export {
  newWebhookSecret,
  parseWebhookSecret,
  signWebhook,
  type WebhookSecrets,
  webhookSecrets,
} from "../../webhooks/index.ts";
export type { WebhookAnswers, WebhookPerson } from "./answers.ts";
export type { WebhookMessage } from "./message.ts";
export { createWebhookChannel, type WebhookOptions } from "./webhook-channel.ts";
