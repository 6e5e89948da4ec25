import type { GenerateContentParameters, GoogleGenAI } from "@google/genai";
import { type Clock, systemClock } from "../../engine/index.ts";
import type { Model, ModelChunk } from "../../runtime/index.ts";
import { abortable } from "../abortable.ts";
import { modelFailed, readRetryAfter } from "../failure.ts";
import { withRetries } from "../retry.ts";
import { openClient } from "./client.ts";
import { toCut, toFailure } from "./failure.ts";
import { AnswerReader, type GeminiAnswer } from "./from-wire.ts";
import type { GeminiOptions } from "./options.ts";
import { patientFetch } from "./patient-fetch.ts";
import { type GeminiRequest, toWire } from "./to-wire.ts";

/** One open request. */
interface Asking {
  readonly client: GoogleGenAI;
  readonly model: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * A model of the Gemini API, on `@google/genai`, which must be installed. Parts are passed on unchanged: thoughts,
 * signatures, the ids that Gemini gave, and members that the SDK does not know yet.
 *
 * An answer that ends in a refusal or a fault (`SAFETY`, `MALFORMED_FUNCTION_CALL`…) is a chunk with `errorCode` and no
 * parts. While Gemini is busy (429, 503) it is asked up to three times; a stream that was cut is not asked again.
 */
export function gemini(name: string, options: GeminiOptions = {}): Model {
  let opened: GoogleGenAI | undefined;
  return {
    name,
    async *generate(request, { signal, stream }): AsyncGenerator<ModelChunk> {
      signal.throwIfAborted();
      opened ??= await openClient(options);
      const left = new AbortController();
      const asking: Asking = {
        client: opened,
        model: name,
        fetch: options.fetch ?? patientFetch,
        clock: options.clock ?? systemClock,
        signal: AbortSignal.any([signal, left.signal]),
      };
      try {
        const wire = toWire(request);
        if (stream) yield* askStreaming(wire, asking);
        else yield await askWhole(wire, asking);
      } finally {
        // Leaving the loop early closes the connection.
        left.abort();
      }
    },
  };
}

async function askWhole(wire: GeminiRequest, asking: Asking): Promise<ModelChunk> {
  const reader = new AnswerReader();
  reader.add(await ask(asking, wire, (parameters) => asking.client.models.generateContent(parameters)));
  return reader.toChunk();
}

async function* askStreaming(wire: GeminiRequest, asking: Asking): AsyncGenerator<ModelChunk> {
  const { client, model, signal } = asking;
  const stream = await ask(asking, wire, (parameters) => client.models.generateContentStream(parameters));
  const reader = new AnswerReader();
  for await (const piece of untilCut(stream, asking)) {
    const parts = reader.addPiece(piece);
    if (parts.length > 0) yield { parts, partial: true };
  }
  signal.throwIfAborted();
  if (!reader.isFinished) {
    throw modelFailed(`The answer of ${model} is incomplete: the stream ended early.`, { retryable: true });
  }
  yield reader.toChunk();
}

async function* untilCut(
  stream: AsyncGenerator<GeminiAnswer>,
  { model, signal }: Asking,
): AsyncGenerator<GeminiAnswer> {
  for (;;) {
    let next: IteratorResult<GeminiAnswer>;
    try {
      next = await abortable(stream.next(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw toCut(error, model);
    }
    if (next.done === true) return;
    yield next.value;
  }
}

/** Sends the request, and again while Gemini is busy. */
function ask<T>(
  asking: Asking,
  { contents, config }: GeminiRequest,
  send: (parameters: GenerateContentParameters) => Promise<T>,
): Promise<T> {
  const { model, clock, signal } = asking;
  const attempt = async (): Promise<T> => {
    let retryAfterMs: number | undefined;
    const watchedFetch: typeof globalThis.fetch = async (input, init) => {
      const response = await asking.fetch(input, init);
      // The SDK's errors do not have the headers.
      retryAfterMs = readRetryAfter((header) => response.headers.get(header) ?? undefined, clock.now());
      return response;
    };
    const parameters: GenerateContentParameters = {
      model,
      // The SDK sends only the members of a part that it knows, so the real ones go past it, in `extraBody`.
      contents: [{ role: "user", parts: [] }],
      config: {
        ...config,
        abortSignal: signal,
        httpOptions: {
          ...config.httpOptions,
          extraBody: { ...config.httpOptions?.extraBody, contents },
          fetch: watchedFetch,
        },
      },
    };
    try {
      return await abortable(send(parameters), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw toFailure(error, model, retryAfterMs);
    }
  };
  return withRetries(attempt, { clock, signal });
}
