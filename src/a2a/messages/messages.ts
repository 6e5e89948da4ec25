import { type Message, type Part, Role } from "@a2a-js/sdk";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/** Where a message belongs. */
export interface MessagePlace {
  readonly taskId: string;
  readonly contextId: string;
}

/** What a message says, beside where it belongs. */
export interface MessageDraft {
  readonly id: string;
  readonly role: "user" | "agent";
  readonly parts: readonly Part[];
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}

/** A message of a task. */
export function toMessage({ taskId, contextId }: MessagePlace, draft: MessageDraft): Message {
  return {
    messageId: draft.id,
    role: draft.role === "user" ? Role.ROLE_USER : Role.ROLE_AGENT,
    taskId,
    contextId,
    parts: [...draft.parts],
    extensions: [...(draft.extensions ?? [])],
    metadata: draft.metadata,
    referenceTaskIds: [],
  };
}

export function textPart(text: string): Part {
  return { content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" };
}

export function dataPart(value: JsonValue, metadata?: JsonObject): Part {
  return { content: { $case: "data", value }, metadata, filename: "", mediaType: "" };
}
