import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../protocol/index.ts";
import type { AvailableInput } from "./host-types.ts";

/** How many calls are kept. A call that is forgotten is still told from others by its parsed arguments. */
const MOST = 1_000;

/** What was announced last where the code runs now: Mastra announces a call and starts it in one chain of promises. */
const ANNOUNCED = new AsyncLocalStorage<{
  readonly to: SentInputs;
  readonly toolCallId: string;
  readonly sent: unknown;
}>();

/**
 * What the model sent: Mastra announces it by the call's id, and then gives the tool what it has parsed. It may start the
 * same call again without announcing it again, so that it is kept for a while, by the call's run and id: conversations
 * may have calls with the same id.
 */
export class SentInputs {
  readonly #ofCalls = new Map<string, unknown>();
  /** By the id alone, in case a call is not started where it was announced. */
  readonly #ofIds = new Map<string, unknown>();

  keep({ toolCallId, input }: AvailableInput): void {
    const sent = withoutResumeData(input);
    ANNOUNCED.enterWith({ to: this, toolCallId, sent });
    const isOther = this.#ofIds.has(toolCallId) && !isDeepStrictEqual(this.#ofIds.get(toolCallId), sent);
    // Two runs have used this id: what was sent in which of them is not known.
    keepIn(this.#ofIds, toolCallId, isOther ? undefined : sent);
  }

  of(runId: string, toolCallId: string): unknown {
    const call = JSON.stringify([runId, toolCallId]);
    const announced = ANNOUNCED.getStore();
    if (announced?.to === this && announced.toolCallId === toolCallId)
      keepIn(this.#ofCalls, call, announced.sent);
    return this.#ofCalls.has(call) ? this.#ofCalls.get(call) : this.#ofIds.get(toolCallId);
  }
}

function keepIn(inputs: Map<string, unknown>, name: string, sent: unknown): void {
  inputs.delete(name);
  inputs.set(name, sent);
  const [oldest] = inputs.keys();
  if (inputs.size > MOST && oldest !== undefined) inputs.delete(oldest);
}

/** Mastra takes this member out before it gives the arguments to the tool. */
function withoutResumeData(input: unknown): unknown {
  if (!isJsonObject(input)) return input;
  const { resumeData: _taken, ...sent } = input;
  return sent;
}
