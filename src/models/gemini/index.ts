export { gemini } from "./gemini.ts";
export type { GeminiOptions } from "./options.ts";
