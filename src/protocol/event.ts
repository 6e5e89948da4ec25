import type { Content, FunctionCall, ToolConfirmation } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** What an event did beside its content. Unknown members are carried through. */
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
  /** Milliseconds since the epoch. The ADK routes say seconds; that is their encoder's affair. */
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

/** A question put to a person, as an event tells of it: neutral, whatever wire it leaves by. */
export interface ConfirmationAsk {
  /** The confirmation's id; on Google's wire also the id of the request call. */
  readonly id: string;
  readonly call: FunctionCall & { readonly id: string };
  readonly hint: string;
  readonly payload?: JsonValue;
  /** The tool asked while running; a declared gate otherwise. */
  readonly askedByTool?: boolean;
  /** Not the call's first question: the call's id does not stand for it, on any wire. */
  readonly later?: true;
}

/** How a question was closed: by a person, by its deadline or by withdrawal. */
export interface ConfirmationClosing {
  readonly id: string;
  readonly callId: string;
  /** Of a question that was not the call's first. */
  readonly later?: true;
  readonly confirmed: boolean;
  /** Set when nobody decided. */
  readonly closedBy?: "expiry" | "withdrawal";
  readonly reason?: string;
  readonly payload?: JsonValue;
}

/** Where an event comes from that was not made here. */
export interface Imported {
  /** Who brought it, by the id that they were known by then. Whoever it names as its author need not have said it. */
  readonly by: string;
}

/**
 * An event as the ledger keeps it. Confirmation traffic stands in `asks` and `closings`, not in `content`,
 * so that it is encoded per wire at the edge and can never slip into a prompt.
 */
export interface StoredEvent extends EventEnvelope {
  /** Set on every event of a conversation that somebody brought along, and by nobody but the engine. */
  readonly imported?: Imported;
  readonly actions?: EventActions;
  readonly asks?: readonly ConfirmationAsk[];
  readonly closings?: readonly ConfirmationClosing[];
}
