import type { Content, FunctionCall, ToolConfirmation } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** What an event did besides its content. Unknown members are passed through. */
export interface EventActions {
  readonly stateDelta?: JsonObject;
  readonly artifactDelta?: JsonObject;
  readonly requestedAuthConfigs?: JsonObject;
  /** Keyed by the id of the ORIGINAL call, not of the request. */
  readonly requestedToolConfirmations?: { readonly [callId: string]: ToolConfirmation };
  readonly skipSummarization?: boolean;
  readonly transferToAgent?: string;
  readonly escalate?: boolean;
  readonly [action: string]: unknown;
}

interface EventEnvelope {
  readonly id: string;
  readonly invocationId: string;
  /** `user`, or the name of the agent. */
  readonly author: string;
  /** Milliseconds since the epoch. The ADK routes convert to seconds. */
  readonly timestamp: number;
  readonly branch?: string;
  readonly content?: Content;
  readonly partial?: boolean;
  readonly turnComplete?: boolean;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly [extra: string]: unknown;
}

/** An event as clients see it, in one of the wire forms. */
export interface Event extends EventEnvelope {
  readonly actions: EventActions;
  readonly longRunningToolIds?: readonly string[];
}

/** A question to a person, in an event: independent of the wire format. */
export interface ConfirmationAsk {
  /** The confirmation's id; on Google's wire also the id of the request call. */
  readonly id: string;
  readonly call: FunctionCall & { readonly id: string };
  readonly hint: string;
  readonly payload?: JsonValue;
  /** The tool asked while running; a declared gate otherwise. */
  readonly askedByTool?: boolean;
  /** Not the call's first question: the call's id does not identify it. */
  readonly later?: true;
}

/** How a question was closed: by a person, by its deadline or by withdrawal. */
export interface ConfirmationClosing {
  readonly id: string;
  readonly callId: string;
  /** The question was not the call's first. */
  readonly later?: true;
  readonly confirmed: boolean;
  /** Set when nobody decided. */
  readonly closedBy?: "expiry" | "withdrawal";
  readonly reason?: string;
  readonly payload?: JsonValue;
}

/** Where an imported event comes from. */
export interface Imported {
  /** The id of the person who imported it. Its author may not have said it. */
  readonly by: string;
}

/**
 * An event as it is stored. Confirmation messages are in `asks` and `closings`, not in `content`, so that they are
 * encoded per wire format at the edge and never reach a prompt.
 */
export interface StoredEvent extends EventEnvelope {
  /** Set on every event of an imported conversation, only by the engine. */
  readonly imported?: Imported;
  readonly actions?: EventActions;
  readonly asks?: readonly ConfirmationAsk[];
  readonly closings?: readonly ConfirmationClosing[];
}
