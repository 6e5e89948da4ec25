/**
 * A language model of the AI SDK, by its shape: whatever `openai("…")`, `anthropic("…")` and the like return, of
 * specification v2, v3 or v4 (`ai` 5, 6 and 7). No package of the AI SDK is imported.
 */
export interface AiSdkModel {
  readonly specificationVersion: "v2" | "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** A part of a prompt's message, or a piece of an answer. Members beside `type` depend on it. */
export interface WirePart {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface WireMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly WirePart[];
}

/** What a model answered, whether it came at once or was put together from a stream. */
export interface WireAnswer {
  readonly content: readonly WirePart[];
  readonly finishReason: unknown;
  readonly usage: unknown;
}

/** Reads an untrusted value: any member may be missing. */
export function fieldsOf(value: unknown): { readonly [member: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { [member: string]: unknown }) : {};
}
