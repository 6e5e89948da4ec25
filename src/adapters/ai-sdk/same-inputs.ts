import type { ModelMessage } from "ai";
import type { GatedTool } from "./gated-tool.ts";

/**
 * The messages, with requests for approval of gated tools that the AI SDK takes for their calls: it parses what the model
 * sent once more, and refuses a call whose input is another one then.
 */
export async function withSameInputs(
  messages: readonly ModelMessage[],
  gated: ReadonlyMap<string, GatedTool>,
): Promise<readonly ModelMessage[]> {
  return Promise.all(
    messages.map(async (message) =>
      message.role === "assistant"
        ? { ...message, content: await contentOf(message.content, gated) }
        : message,
    ),
  );
}

type Content = Extract<ModelMessage, { readonly role: "assistant" }>["content"];

async function contentOf(content: Content, gated: ReadonlyMap<string, GatedTool>): Promise<Content> {
  if (typeof content === "string") return content;
  const parts = content.map(async (part) => {
    if (part.type !== "tool-approval-request" || !Object.hasOwn(part, "inputSchemaInput")) return part;
    const call = content.find((each) => each.type === "tool-call" && each.toolCallId === part.toolCallId);
    const tool = call?.type === "tool-call" ? gated.get(call.toolName) : undefined;
    if (tool === undefined || call?.type !== "tool-call") return part;
    return { ...part, inputSchemaInput: await tool.sameAgain(part.inputSchemaInput, call.input) };
  });
  return Promise.all(parts);
}
