import type { CallContext } from "../../engine/index.ts";
import type { JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import type { State } from "./state.ts";

/** A decision with the payload's type as the tool declared it. */
export type TypedConfirmation<Payload> = Omit<ToolConfirmation, "payload"> & { readonly payload?: Payload };

/** What a tool may say of the run besides its result; it holds once the result is stored. The ADK's names. */
export interface ToolActions {
  /** Ends the loop that this agent runs in, once the agent is done. */
  escalate?: boolean;
  /** Hands the conversation to this agent once the turn is complete. */
  transferToAgent?: string;
  /** The agent is done with this turn: its model is not asked what to make of the results. */
  skipSummarization?: boolean;
}

/** What a tool's function gets besides its arguments. */
export interface ToolContext<Payload = JsonValue, Credentials = unknown>
  extends Omit<CallContext, "toolConfirmation"> {
  /** The decision that allowed this call to start, if there was one. */
  readonly toolConfirmation?: TypedConfirmation<Payload>;
  /** What the tool's `credentials` gave. */
  readonly credentials: Credentials;
  readonly agentName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly invocationId: string;
  readonly functionCallId: string;
  readonly state: State;
  readonly actions: ToolActions;
  /**
   * Of the request that began the run, those that toolsets of the app name, in small letters. Undefined where this
   * process did not take that request: they are never stored.
   */
  readonly requestHeaders?: ReadonlyMap<string, string>;
  /** Tells whoever watches the run how far this call has come. Not stored. */
  progress(update: JsonValue): void;
}
