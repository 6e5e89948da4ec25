/**
 * Messages that must arrive even if a process dies: the journal fills a queue of the outbox, and processes that know
 * the queue share the work. Decided here: how a queue is filled, each record once; how long a process holds a message
 * while it handles it; when a failed attempt is repeated, and when it has failed for good; which messages were sent to
 * whom. What a message says and to whom it goes is decided by the owner of the queue: a channel, or the notices of callers.
 */

export { DEFAULT_DELIVERY_SETTINGS, type DeliverySettings, type Told } from "./delivery-settings.ts";
export { type DailyTime, heldUntil, holdEnd } from "./hold.ts";
export {
  type NotificationSettings,
  notificationSettings,
  putNotificationSettings,
} from "./notification-settings.ts";
export { type DeliveryFailure, OutboxWorker } from "./outbox-worker.ts";
export { isTimeZone, type QuietHours } from "./quiet-hours.ts";
export { type Claim, MessageBook, type SentMessage, type SentMessages } from "./sent-messages.ts";
export { type ToldPerson, toldPeople } from "./told-people.ts";
