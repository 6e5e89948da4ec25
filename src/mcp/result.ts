import type { CallToolResult } from "@modelcontextprotocol/client";
import { type JsonObject, type JsonValue, toJsonValue } from "../protocol/index.ts";

const MOST_CHARACTERS = 1_000_000;

/** What a tool answered, as JSON that can be kept: its structured content, else its content as it stands. */
export function toResult({ structuredContent, content }: CallToolResult): JsonValue {
  const told = structuredContent ?? textOrContent(content);
  const json = toJsonValue(told);
  if (!json.ok) return { warning: `the result is not JSON and was not kept: ${json.message}` };
  const text = JSON.stringify(json.value);
  if (text.length <= MOST_CHARACTERS) return json.value;
  return {
    truncated: text.slice(0, MOST_CHARACTERS),
    warning: `the result has ${text.length} characters; the first ${MOST_CHARACTERS} were kept`,
  };
}

/** The words of a result that says that the tool failed. */
export function failureText(result: CallToolResult): string {
  const text = result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return text === "" ? "the tool reported a failure without a word" : text.slice(0, MOST_CHARACTERS);
}

function textOrContent(content: CallToolResult["content"]): JsonObject | CallToolResult["content"] {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === content.length ? { text: texts.join("\n") } : { content: content as never };
}
