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
