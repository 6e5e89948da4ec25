import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/** The version of the protocol that is spoken here. */
export const PROTOCOL_VERSION = "1.0";

/** A question to a person, as AG-UI's clients know it. */
export interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly toolCallId: string;
  readonly responseSchema?: JsonObject;
  readonly expiresAt?: string;
  readonly metadata: JsonObject;
}

/** One message of a conversation. */
export type AguiMessage =
  | { readonly id: string; readonly role: "user"; readonly content: string }
  | {
      readonly id: string;
      readonly role: "assistant";
      readonly name: string;
      readonly content?: string;
      readonly toolCalls?: readonly AguiToolCall[];
    }
  | { readonly id: string; readonly role: "tool"; readonly toolCallId: string; readonly content: string };

/** A tool call in a message; its arguments are a JSON text. */
export interface AguiToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The events that this server sends. */
export type AguiEvent =
  | (Run & { readonly type: "RUN_STARTED"; readonly protocolVersion: string })
  | (Run & { readonly type: "RUN_FINISHED"; readonly outcome: Outcome })
  | { readonly type: "RUN_ERROR"; readonly message: string; readonly code: string }
  | {
      readonly type: "TEXT_MESSAGE_START";
      readonly messageId: string;
      readonly role: "assistant";
      readonly name: string;
    }
  | { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
  | { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
  | {
      readonly type: "TOOL_CALL_START";
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
  | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
  | {
      readonly type: "TOOL_CALL_RESULT";
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: "tool";
    }
  | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: JsonObject }
  | { readonly type: "MESSAGES_SNAPSHOT"; readonly messages: readonly AguiMessage[] }
  | { readonly type: "CUSTOM"; readonly name: string; readonly value: JsonValue };

/** What a client calls its conversation and its run. */
export interface Run {
  readonly threadId: string;
  readonly runId: string;
}

type Outcome =
  | { readonly type: "success" }
  | { readonly type: "interrupt"; readonly interrupts: readonly Interrupt[] };
