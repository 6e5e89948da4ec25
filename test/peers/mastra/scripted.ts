import type { LanguageModelV2, LanguageModelV2Content, LanguageModelV2Prompt } from "@ai-sdk/provider-v5";
import { FIRST_WORDS, LAST_WORDS, type ModelCall } from "../../adapters/contract/subject.ts";

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

type Told = Record<string, string>;

/** Makes the calls when a user speaks, and answers with text when it gets results, which it writes down. */
export function scripted(calls: readonly ModelCall[], told: Told): LanguageModelV2 {
  const answer = (prompt: LanguageModelV2Prompt): LanguageModelV2Content[] => {
    const asked = prompt.findLastIndex(({ role }) => role === "user");
    for (const message of prompt.slice(asked))
      if (message.role === "tool")
        for (const { toolCallId, output } of message.content) told[toolCallId] = JSON.stringify(output);
    if (asked < prompt.length - 1) return [{ type: "text", text: LAST_WORDS.join("") }];
    return calls.map(({ id, tool, args }) => {
      return { type: "tool-call", toolCallId: id, toolName: tool, input: JSON.stringify(args) };
    });
  };
  return {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async ({ prompt }) => {
      return { content: answer(prompt), finishReason: "stop", usage: USAGE, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      const content = answer(prompt);
      const isCalling = content.some(({ type }) => type === "tool-call");
      const words = isCalling ? FIRST_WORDS : LAST_WORDS;
      const stream = new ReadableStream({
        start: (controller) => {
          controller.enqueue({ type: "stream-start", warnings: [] });
          controller.enqueue({ type: "text-start", id: "1" });
          for (const delta of words) controller.enqueue({ type: "text-delta", id: "1", delta });
          controller.enqueue({ type: "text-end", id: "1" });
          for (const part of content) if (part.type === "tool-call") controller.enqueue(part);
          controller.enqueue({
            type: "finish",
            finishReason: isCalling ? "tool-calls" : "stop",
            usage: USAGE,
          });
          controller.close();
        },
      });
      return { stream };
    },
  };
}
