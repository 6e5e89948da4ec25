import { CountersignError, type Part } from "../../protocol/index.ts";
import type { Model, ModelChunk, ModelRequest } from "../../runtime/index.ts";
import { abortable } from "../abortable.ts";
import { modelFailed } from "../failure.ts";

/** What a script answers: parts as a model would give them, or a text. */
export type ScriptedAnswer = readonly Part[] | string;

/** Options of {@link scripted}. */
export interface ScriptedOptions {
  /** The model's name. Default: `scripted`. */
  readonly name?: string;
}

/**
 * A model made from a function, for tests and demos. When streaming, each text comes in two halves and then the whole
 * answer. If the function throws, it is a model failure with that message.
 */
export function scripted(
  answer: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
  options: ScriptedOptions = {},
): Model {
  return {
    name: options.name ?? "scripted",
    async *generate(request, { signal, stream }): AsyncGenerator<ModelChunk> {
      signal.throwIfAborted();
      const parts = toParts(await abortable(play(answer, request), signal));
      if (stream) yield* partials(parts);
      yield { parts };
    },
  };
}

async function play(
  answer: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
  request: ModelRequest,
): Promise<ScriptedAnswer> {
  try {
    return await answer(request);
  } catch (error) {
    if (CountersignError.isInstance(error)) throw error;
    throw modelFailed(error instanceof Error ? error.message : String(error), {
      retryable: false,
      cause: error,
    });
  }
}

function toParts(answer: ScriptedAnswer): readonly Part[] {
  return typeof answer === "string" ? [{ text: answer }] : answer;
}

function* partials(parts: readonly Part[]): Generator<ModelChunk> {
  for (const { text = "", thought } of parts) {
    for (const half of halves(text)) {
      yield { parts: [{ text: half, ...(thought === true && { thought }) }], partial: true };
    }
  }
}

function halves(text: string): string[] {
  let middle = Math.ceil(text.length / 2);
  // Between the halves of a surrogate pair there is no character to end at.
  if (text.slice(0, middle).isWellFormed() !== text.isWellFormed()) middle += 1;
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}
