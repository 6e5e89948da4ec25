/**
 * Gemini. Decided here: how a prompt becomes a request to Google's API, and how its answer becomes ours.
 */

export { gemini } from "./gemini.ts";
export type { GeminiOptions } from "./options.ts";
