export { createSlackChannel, type SlackOptions } from "./slack-channel.ts";
export type { SlackPerson, SlackSettings } from "./slack-options.ts";
