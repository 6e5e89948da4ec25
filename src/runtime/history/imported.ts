import type { EventDraft } from "../../engine/index.ts";
import { CountersignError, type Event, isReservedName, type Part } from "../../protocol/index.ts";

/**
 * An event of an earlier conversation, without anything that looks like a question or an answer of ours: a client would
 * offer to answer a request that it finds here. Throws `malformed-request` for a function call in a user's message.
 */
export function toImported(
  { longRunningToolIds: _asked, actions, content, ...event }: Event,
  index: number,
): EventDraft {
  const { requestedToolConfirmations: _requests, requestedAuthConfigs: _credentials, ...others } = actions;
  const parts = content?.parts.filter((part) => !isProtocol(part));
  if (event.author === "user") refuseCalls(parts ?? [], `events[${index}].content.parts`);
  return { ...event, actions: others, ...(parts === undefined ? {} : { content: { ...content, parts } }) };
}

// A part may hold both.
function isProtocol({ functionCall, functionResponse }: Part): boolean {
  return isReservedName(functionCall?.name ?? "") || isReservedName(functionResponse?.name ?? "");
}

/**
 * Only models make calls. A call in a user's message could be taken for a model's, and its id for that of a real call.
 */
export function refuseCalls(parts: readonly Part[], field: string): void {
  const call = parts.find(({ functionCall }) => functionCall !== undefined)?.functionCall;
  if (call === undefined) return;
  throw new CountersignError(
    "malformed-request",
    `A user's message may not contain a function call, but this one calls ${call.name}. Send text or answers.`,
    { details: { field } },
  );
}
