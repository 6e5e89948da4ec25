import type { DeferredToolUse, ResultMessage, RunMessage, UserMessage } from "./host-types.ts";

/** The startup of a resumed run ends so if the tools of this process are not connected yet; a message makes it try again. */
const UNAVAILABLE = "tool_deferred_unavailable";

/** One run of `query`: its input, and whether it has paused. */
export class ClaudeTurn {
  /** Give it to `query`. It stays open until the run has ended: hooks and tools of this process are reached through it. */
  readonly prompt: AsyncIterable<UserMessage>;
  #deferred: DeferredToolUse | undefined;
  #next = Promise.withResolvers<boolean>();

  constructor(text: string | undefined) {
    this.prompt = this.#messages(text);
  }

  /** The tool use that the run waits for, once it has ended. */
  get deferred(): DeferredToolUse | undefined {
    return this.#deferred;
  }

  /** Show it every message of the run. */
  see(message: RunMessage): void {
    if (message.type !== "result") return;
    const { stop_reason: reason, deferred_tool_use: deferred } = message as ResultMessage;
    this.#deferred = deferred;
    this.#next.resolve(reason === UNAVAILABLE);
  }

  async *#messages(text: string | undefined): AsyncGenerator<UserMessage> {
    if (text !== undefined) yield userMessage(text);
    const triesAgain = await this.#next.promise;
    if (text !== undefined || !triesAgain) return;
    this.#next = Promise.withResolvers();
    yield userMessage("");
    await this.#next.promise;
  }
}

function userMessage(content: string): UserMessage {
  return { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
}
