import type { JsonObject } from "../../protocol/index.ts";
import { fieldsOf } from "./language-model.ts";

/** Token counts under the names that ADK events use; nothing if there are none. */
export function toUsage(usage: unknown): JsonObject | undefined {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = fieldsOf(usage);
  // Since v3 the counts are broken down; before, they were plain numbers.
  const prompt = countOf(fieldsOf(inputTokens)["total"] ?? inputTokens);
  const answer = countOf(fieldsOf(outputTokens)["total"] ?? outputTokens);
  const thoughts = countOf(fieldsOf(outputTokens)["reasoning"] ?? reasoningTokens);
  const cached = countOf(fieldsOf(inputTokens)["cacheRead"] ?? cachedInputTokens);
  if (prompt + answer === 0) return undefined;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: answer - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    totalTokenCount: prompt + answer,
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
