import type { CallToolResult } from "@modelcontextprotocol/client";

/** A tool's result: its structured content, else its content. The engine limits the size. */
export function toResult({ structuredContent, content }: CallToolResult): unknown {
  return structuredContent ?? textOrContent(content);
}

/** The text of a result that reports a failure of the tool. */
export function failureText({ content }: CallToolResult): string {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return text === "" ? "the tool reported a failure without a message" : text;
}

function textOrContent(content: CallToolResult["content"]): object {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === content.length ? { text: texts.join("\n") } : { content };
}
