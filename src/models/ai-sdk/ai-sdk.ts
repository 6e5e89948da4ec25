import { type Clock, systemClock } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Model, ModelChunk } from "../../runtime/index.ts";
import { abortable } from "../abortable.ts";
import { modelFailed } from "../failure.ts";
import { withRetries } from "../retry.ts";
import { toCut, toFailure } from "./failure.ts";
import { readAnswer, toChunk } from "./from-wire.ts";
import { type AiSdkModel, fieldsOf, type WirePart } from "./language-model.ts";
import { StreamReader, toPiece } from "./stream-reader.ts";
import { toWire } from "./to-wire.ts";

/** Options of {@link aiSdk}. */
export interface AiSdkOptions {
  /** The model's name. Default: its `modelId`. */
  readonly name?: string | undefined;
  /** The clock for retries. */
  readonly clock?: Clock | undefined;
}

/** One open request. */
interface Asking {
  readonly model: AiSdkModel;
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type Method = (options: object) => PromiseLike<unknown>;

/**
 * A model on any language model of the AI SDK. Reasoning and provider metadata of each part are sent back unchanged;
 * `config` of a request is passed on as call options (`temperature`, `providerOptions`…).
 *
 * A refusal, or a call whose arguments are not a JSON object, is a chunk with `errorCode` and no parts. While the
 * provider is busy (429, 503) it is asked up to three times; a stream that was cut is not asked again.
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  const version: unknown = fieldsOf(model)["specificationVersion"];
  if (version !== "v2" && version !== "v3" && version !== "v4") {
    throw new CountersignError(
      "invalid-option",
      'aiSdk() takes a language model of AI SDK 5 or later, as openai("…") returns one.',
      { details: { option: "model" } },
    );
  }
  const name = options.name ?? model.modelId;
  const clock = options.clock ?? systemClock;
  return {
    name,
    async *generate(request, { signal, stream }): AsyncGenerator<ModelChunk> {
      signal.throwIfAborted();
      const left = new AbortController();
      const asking = { model, name, clock, signal: AbortSignal.any([signal, left.signal]) };
      try {
        const wire = { ...toWire(request, version), abortSignal: asking.signal };
        if (stream) yield* askStreaming(wire, asking);
        else yield toChunk(readAnswer(await ask("doGenerate", wire, asking)));
      } finally {
        // Leaving the loop early closes the connection.
        left.abort();
      }
    },
  };
}

async function* askStreaming(wire: object, asking: Asking): AsyncGenerator<ModelChunk> {
  const { stream } = await ask("doStream", wire, asking);
  const reader = new StreamReader();
  for await (const piece of untilCut(stream as ReadableStream<unknown>, asking)) {
    const parts = reader.add(piece);
    if (parts.length > 0) yield { parts, partial: true };
  }
  const answer = reader.toAnswer();
  if (answer === undefined) {
    throw modelFailed(`The answer of ${asking.name} is incomplete: the stream ended early.`, {
      retryable: true,
    });
  }
  yield toChunk(answer);
}

async function* untilCut(stream: ReadableStream<unknown>, asking: Asking): AsyncGenerator<WirePart> {
  const { name, clock, signal } = asking;
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) return;
      const piece = toPiece(value);
      if (piece?.type === "error") throw toCut(piece["error"], name, clock.now());
      if (piece !== undefined) yield piece;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw CountersignError.isInstance(error) ? error : toCut(error, name, clock.now());
  } finally {
    reader.cancel().then(ignore, ignore);
  }
}

/** Calls the model, and again while the provider is busy. */
function ask(
  method: "doGenerate" | "doStream",
  wire: object,
  { model, name, clock, signal }: Asking,
): Promise<{ readonly [member: string]: unknown }> {
  const attempt = async (): Promise<{ readonly [member: string]: unknown }> => {
    try {
      // The shape of the options is the same for all versions but for files, which toWire knows.
      return fieldsOf(await abortable((model[method] as Method).call(model, wire), signal));
    } catch (error) {
      signal.throwIfAborted();
      throw toFailure(error, name, clock.now());
    }
  };
  return withRetries(attempt, { clock, signal });
}

function ignore(): void {}
