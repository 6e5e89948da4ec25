import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { FIRST_WORDS, LAST_WORDS } from "../contract/subject.ts";

/** What the model was told of each call, by the call's id. */
export type Told = Record<string, string>;

/** A call that the model makes. */
export interface ScriptedCall {
  readonly id: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** Makes the calls when a user speaks, and answers with text when it gets results. */
export class ScriptedChatModel extends BaseChatModel {
  readonly #calls: readonly ScriptedCall[];
  readonly #told: Told;

  constructor(calls: readonly ScriptedCall[], told: Told) {
    super({});
    this.#calls = calls;
    this.#told = told;
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const calls = this.#answer(messages);
    const message = new AIMessage({
      content: calls.length > 0 ? "" : LAST_WORDS.join(""),
      tool_calls: calls.map(({ id, tool: name, args }) => ({ type: "tool_call", id, name, args })),
    });
    return { generations: [{ text: message.text, message }] };
  }

  // Used where somebody reads a stream.
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: unknown,
    manager?: { handleLLMNewToken(token: string, ...more: unknown[]): Promise<void> },
  ): AsyncGenerator<ChatGenerationChunk> {
    const calls = this.#answer(messages);
    const chunks = (calls.length > 0 ? FIRST_WORDS : LAST_WORDS).map((content) => ({ content }));
    const making = calls.map(({ id, tool: name, args }, index) => {
      const chunk = { type: "tool_call_chunk" as const, index, id, name, args: JSON.stringify(args) };
      return { content: "", tool_call_chunks: [chunk] };
    });
    for (const fields of [...chunks, ...making]) {
      const chunk = new ChatGenerationChunk({ text: fields.content, message: new AIMessageChunk(fields) });
      yield chunk;
      await manager?.handleLLMNewToken(fields.content, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  /** The calls that it makes now, after it has written down what it was told. */
  #answer(messages: BaseMessage[]): readonly ScriptedCall[] {
    const asked = messages.findLastIndex((message) => message.type === "human");
    const results = messages.slice(asked).filter((message) => ToolMessage.isInstance(message));
    for (const { tool_call_id: id, content } of results)
      this.#told[id] = typeof content === "string" ? content : JSON.stringify(content);
    return results.length > 0 ? [] : this.#calls;
  }
}
