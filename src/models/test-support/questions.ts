import type { Clock } from "../../engine/index.ts";
import type { Model, ModelChunk, ModelRequest } from "../../runtime/index.ts";

/** A question of one message. */
export const QUESTION: ModelRequest = { contents: [{ role: "user", parts: [{ text: "Hi" }] }], tools: [] };

export interface AskOptions {
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
}

/** All chunks of the answer. */
export async function ask(
  model: Model,
  request: ModelRequest = QUESTION,
  { stream = false, signal = new AbortController().signal }: AskOptions = {},
): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of model.generate(request, { stream, signal })) chunks.push(chunk);
  return chunks;
}

/** The last chunk of the answer. */
export async function askLast(
  model: Model,
  request: ModelRequest = QUESTION,
  options: AskOptions = {},
): Promise<ModelChunk | undefined> {
  return (await ask(model, request, options)).at(-1);
}

/** A clock on which every wait is over at once; what was waited for is written down. */
export function createQuickClock(): Clock & { readonly waits: readonly number[] } {
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  return {
    waits,
    now: () => Date.UTC(2026, 0, 1),
    monotonic: () => 0,
    sleep,
    sleepInBackground: sleep,
    after: () => () => {},
    hold: () => () => {},
  };
}
