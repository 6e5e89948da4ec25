import type { Clock } from "../../engine/index.ts";

/** Options of {@link gemini}. */
export interface GeminiOptions {
  /** Default: `GEMINI_API_KEY`, `GOOGLE_API_KEY` or `GOOGLE_GENAI_API_KEY` of the environment. */
  readonly apiKey?: string | undefined;
  /** Where the Gemini API is, for proxies and tests. */
  readonly baseUrl?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How requests are sent. Default: Node's fetch. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** The clock for retries. */
  readonly clock?: Clock | undefined;
}
