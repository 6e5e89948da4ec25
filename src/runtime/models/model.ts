import type { Content, JsonObject, Part } from "../../protocol/index.ts";

/** A tool as the model is told of it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: JsonObject;
}

/** One question to a model: the whole conversation, complete turns only. */
export interface ModelRequest {
  readonly instruction?: string;
  readonly contents: readonly Content[];
  readonly tools: readonly ToolDeclaration[];
  /** Provider settings (temperature and the like), handed through as they are. */
  readonly config?: JsonObject;
}

/**
 * A piece of a model's answer. Partial chunks carry text as it comes; the last chunk is not partial and
 * carries everything: all text, all calls, and whatever else the provider wants to see again.
 */
export interface ModelChunk {
  readonly parts: readonly Part[];
  readonly partial?: boolean;
  readonly finishReason?: string;
  readonly usageMetadata?: JsonObject;
  /** The provider answered, but with a refusal or a fault instead of content. */
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

export interface GenerateOptions {
  readonly signal: AbortSignal;
  /** Give text in pieces as it comes. Without it there is exactly one chunk. */
  readonly stream: boolean;
}

/**
 * A language model. Function calls may come without ids; every other part must come back unharmed when it is
 * part of a later request. A failure is a thrown `CountersignError` with code `model-failed`; whether it may
 * pass is in its details: `retryable`, `retryAfterMs`.
 */
export interface Model {
  readonly name: string;
  generate(request: ModelRequest, options: GenerateOptions): AsyncIterable<ModelChunk>;
}

/** Finds the model that an agent names. */
export type ModelResolver = (name: string) => Model | Promise<Model>;
