export { createPushChannel, type PushOptions } from "./push-channel.ts";
export type { PushSettings } from "./push-options.ts";
