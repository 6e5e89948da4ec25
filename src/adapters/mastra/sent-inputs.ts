import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../protocol/index.ts";
import type { AvailableInput } from "./host-types.ts";

/** How many calls are kept. A call that is forgotten is still told from others by its parsed arguments. */
const MOST = 1_000;

/**
 * What the model sent, by the call's id: Mastra announces it, and then gives the tool what it has parsed. It may start the
 * same call again without announcing it again, so that it is kept for a while.
 */
export class SentInputs {
  readonly #inputs = new Map<string, unknown>();

  keep({ toolCallId, input }: AvailableInput): void {
    const sent = withoutResumeData(input);
    const isOther = this.#inputs.has(toolCallId) && !isDeepStrictEqual(this.#inputs.get(toolCallId), sent);
    this.#inputs.delete(toolCallId);
    // Two runs have used this id: what was sent in which of them is not known.
    this.#inputs.set(toolCallId, isOther ? undefined : sent);
    const [oldest] = this.#inputs.keys();
    if (this.#inputs.size > MOST && oldest !== undefined) this.#inputs.delete(oldest);
  }

  of(toolCallId: string): unknown {
    return this.#inputs.get(toolCallId);
  }
}

/** Mastra takes this member out before it gives the arguments to the tool. */
function withoutResumeData(input: unknown): unknown {
  if (!isJsonObject(input)) return input;
  const { resumeData: _taken, ...sent } = input;
  return sent;
}
