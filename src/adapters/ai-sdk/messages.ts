import type { ModelMessage, ToolApprovalRequest, ToolApprovalResponse } from "ai";

/** How often a call's id occurs in messages: as a call, and as a result. */
export interface Uses {
  readonly calls: number;
  readonly results: number;
}

type Part = Exclude<ModelMessage["content"], string>[number];

/** A request for approval in messages that has no result yet, with the tool that it is about. */
export interface OpenRequest extends Pick<ToolApprovalRequest, "approvalId" | "toolCallId"> {
  readonly toolName: string;
  /** How many earlier calls in the messages had this id. */
  readonly occurrence: number;
}

/** How often the messages have this call. A provider may use an id again in a later turn. */
export function usesOf(messages: readonly ModelMessage[], toolCallId: string): Uses {
  const about = partsOf(messages).filter((part) => "toolCallId" in part && part.toolCallId === toolCallId);
  return {
    calls: about.filter(({ type }) => type === "tool-call").length,
    results: about.filter(({ type }) => type === "tool-result").length,
  };
}

/** Every request for approval whose call has no result: what the conversation waits for. */
export function openRequests(messages: readonly ModelMessage[]): readonly OpenRequest[] {
  const parts = partsOf(messages);
  const names = new Map(
    parts.flatMap((part) => (part.type === "tool-call" ? [[part.toolCallId, part.toolName] as const] : [])),
  );
  const open = new Map<string, OpenRequest>();
  for (const part of parts) {
    if (part.type !== "tool-approval-request" || part.isAutomatic === true) continue;
    const { approvalId, toolCallId } = part;
    const { calls, results } = usesOf(messages, toolCallId);
    const toolName = names.get(toolCallId);
    if (calls > results && toolName !== undefined)
      open.set(toolCallId, { approvalId, toolCallId, toolName, occurrence: results });
  }
  return [...open.values()];
}

/** The answers that a client put into the last message. They are nobody's decision until the server says whose. */
export function lastResponses(messages: readonly ModelMessage[]): readonly ToolApprovalResponse[] {
  const last = messages.at(-1);
  return last?.role === "tool" ? last.content.filter((part) => part.type === "tool-approval-response") : [];
}

/** The messages without the answers to these requests. */
export function withoutResponses(
  messages: readonly ModelMessage[],
  approvalIds: ReadonlySet<string>,
): readonly ModelMessage[] {
  return messages.flatMap((message): readonly ModelMessage[] => {
    if (message.role !== "tool") return [message];
    const content = message.content.filter(
      (part) => part.type !== "tool-approval-response" || !approvalIds.has(part.approvalId),
    );
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function partsOf(messages: readonly ModelMessage[]): readonly Part[] {
  return messages.flatMap(({ content }): readonly Part[] => (typeof content === "string" ? [] : content));
}
