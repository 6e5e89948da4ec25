/**
 * Web Push. Decided here: which devices a person has; what a notification says, and when it is replaced or removed; and when a
 * device is forgotten.
 */

export { createPushChannel, type PushOptions } from "./push-channel.ts";
export type { PushSettings } from "./push-options.ts";
