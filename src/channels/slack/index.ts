/**
 * Slack. Decided here: what a card says, and how it is kept current; which Slack user is which person; and what a button or a
 * dialog does. Decisions themselves are the engine's (`engine/decisions`).
 */

export { createSlackChannel, type SlackOptions } from "./slack-channel.ts";
export type { SlackPerson, SlackSettings } from "./slack-options.ts";
