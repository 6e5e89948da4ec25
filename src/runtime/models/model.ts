import type { Content, JsonObject, Part } from "../../protocol/index.ts";

/** A tool's declaration for the model. */
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
  /** Provider settings (temperature and the like), passed on unchanged. */
  readonly config?: JsonObject;
}

/**
 * A piece of a model's answer. Partial chunks carry text as it comes; the last chunk is not partial and carries
 * everything: all text, all calls, and everything else that the provider needs to get back.
 */
export interface ModelChunk {
  readonly parts: readonly Part[];
  readonly partial?: boolean;
  readonly finishReason?: string;
  readonly usageMetadata?: JsonObject;
  /** The provider answered with a refusal or an error instead of content. */
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

/** Options of one request to a model. */
export interface GenerateOptions {
  readonly signal: AbortSignal;
  /** Stream text in pieces. Otherwise there is exactly one chunk. */
  readonly stream: boolean;
}

/**
 * A language model. Function calls may have no ids; every other part must be sent back unchanged in later requests. A
 * failure is a thrown `CountersignError` with code `model-failed`; its details say whether to retry: `retryable`,
 * `retryAfterMs`.
 */
export interface Model {
  readonly name: string;
  generate(request: ModelRequest, options: GenerateOptions): AsyncIterable<ModelChunk>;
}

/** Finds the model that an agent names. */
export type ModelResolver = (name: string) => Model | Promise<Model>;
