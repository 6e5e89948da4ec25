import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { JsonObject } from "../../../src/protocol/index.ts";

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
    const asked = messages.findLastIndex((message) => message.type === "human");
    const results = messages.slice(asked).filter((message) => ToolMessage.isInstance(message));
    for (const { tool_call_id: id, content } of results)
      this.#told[id] = typeof content === "string" ? content : JSON.stringify(content);
    const calls = results.length > 0 ? [] : this.#calls;
    const message = new AIMessage({
      content: calls.length > 0 ? "" : "Done.",
      tool_calls: calls.map(({ id, tool: name, args }) => ({ type: "tool_call", id, name, args })),
    });
    return { generations: [{ text: message.text, message }] };
  }
}
