import type { ModelMessage, ToolApprovalRequest, ToolApprovalResponse, ToolModelMessage } from "ai";

/** How often a call's id occurs in messages: as a call, and as a result. */
export interface Uses {
  readonly calls: number;
  readonly results: number;
}

type Part = Exclude<ModelMessage["content"], string>[number];

/** A request for approval in messages, with the tool that it is about. */
export interface Request extends Pick<ToolApprovalRequest, "approvalId" | "toolCallId"> {
  readonly toolName: string;
}

/** How often the messages have this call. A provider may use an id again in a later turn. */
export function usesOf(messages: readonly ModelMessage[], toolCallId: string): Uses {
  const about = partsOf(messages).filter((part) => "toolCallId" in part && part.toolCallId === toolCallId);
  return {
    calls: about.filter(({ type }) => type === "tool-call").length,
    results: about.filter(({ type }) => type === "tool-result").length,
  };
}

/** Do the messages go on with a call that the model made earlier? Any approval in the last one says so, true or not. */
export function isResumed(messages: readonly ModelMessage[], toolCallId: string): boolean {
  const { calls, results } = usesOf(messages, toolCallId);
  if (calls > results) return true;
  const approved = new Set(
    lastResponses(messages).flatMap(({ approvalId, approved: yes }) => (yes ? [approvalId] : [])),
  );
  return partsOf(messages).some(
    (part) =>
      part.type === "tool-approval-request" &&
      part.toolCallId === toolCallId &&
      approved.has(part.approvalId),
  );
}

/** Every request for approval whose call has no result: what the conversation waits for. */
export function openRequests(messages: readonly ModelMessage[]): readonly Request[] {
  return requests(messages).filter(({ toolCallId }) => {
    const { calls, results } = usesOf(messages, toolCallId);
    return calls > results;
  });
}

/** The last request for each call, with the tool of the last call of that id. */
export function requests(messages: readonly ModelMessage[]): readonly Request[] {
  const parts = partsOf(messages);
  const names = new Map(
    parts.flatMap((part) => (part.type === "tool-call" ? [[part.toolCallId, part.toolName] as const] : [])),
  );
  const found = new Map<string, Request>();
  for (const part of parts) {
    if (part.type !== "tool-approval-request" || part.isAutomatic === true) continue;
    const { approvalId, toolCallId } = part;
    const toolName = names.get(toolCallId);
    if (toolName !== undefined) found.set(toolCallId, { approvalId, toolCallId, toolName });
  }
  return [...found.values()];
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
  return withoutAnswers(
    messages,
    (part) => part.type === "tool-approval-response" && approvalIds.has(part.approvalId),
  );
}

/** The messages without the denials that the SDK wrote beside the client's answers in the last one, for these calls. */
export function withoutLastDenials(
  messages: readonly ModelMessage[],
  toolCallIds: ReadonlySet<string>,
): readonly ModelMessage[] {
  if (lastResponses(messages).length === 0) return messages;
  const last = withoutAnswers(
    messages.slice(-1),
    (part) =>
      part.type === "tool-result" &&
      part.output.type === "execution-denied" &&
      toolCallIds.has(part.toolCallId),
  );
  return [...messages.slice(0, -1), ...last];
}

/** The messages without the results of the last call with this id. */
export function withoutLastResult(
  messages: readonly ModelMessage[],
  toolCallId: string,
): readonly ModelMessage[] {
  const called = messages.findLastIndex((message) =>
    partsOf([message]).some((part) => part.type === "tool-call" && part.toolCallId === toolCallId),
  );
  const after = withoutAnswers(
    messages.slice(called + 1),
    (part) => part.type === "tool-result" && part.toolCallId === toolCallId,
  );
  return [...messages.slice(0, called + 1), ...after];
}

type Answer = ToolModelMessage["content"][number];

function withoutAnswers(
  messages: readonly ModelMessage[],
  isDropped: (part: Answer) => boolean,
): readonly ModelMessage[] {
  return messages.flatMap((message): readonly ModelMessage[] => {
    if (message.role !== "tool") return [message];
    const content = message.content.filter((part) => !isDropped(part));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function partsOf(messages: readonly ModelMessage[]): readonly Part[] {
  return messages.flatMap(({ content }): readonly Part[] => (typeof content === "string" ? [] : content));
}
