export { type GeminiOptions, gemini } from "./gemini.ts";
