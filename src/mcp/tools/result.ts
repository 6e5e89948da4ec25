import type { CallToolResult } from "@modelcontextprotocol/client";

/** What a tool answered: its structured content, else its content as it stands. How much is kept, the engine says. */
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
