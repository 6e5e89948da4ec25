import type { CallContext } from "../../engine/index.ts";
import type { JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import type { State } from "./state.ts";

/** A decision with the payload's type as the tool declared it. */
export type TypedConfirmation<Payload> = Omit<ToolConfirmation, "payload"> & { readonly payload?: Payload };

/** What a tool may change in the run besides its result; takes effect when the result is stored. The ADK's names. */
export interface ToolActions {
  /** Ends the loop that this agent runs in, once the agent is done. */
  escalate?: boolean;
  /** Hands the conversation to this agent once the turn is complete. */
  transferToAgent?: string;
  /** The agent is done with this turn: its model is not asked about the results. */
  skipSummarization?: boolean;
}

/** What a tool's function gets besides its arguments. */
export interface ToolContext<Payload = JsonValue, Credentials = unknown>
  extends Omit<CallContext, "toolConfirmation"> {
  /** The decision that allowed this call to start, if there was one. */
  readonly toolConfirmation?: TypedConfirmation<Payload>;
  /** What the tool's `credentials` returned. */
  readonly credentials: Credentials;
  readonly agentName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly invocationId: string;
  readonly functionCallId: string;
  readonly state: State;
  readonly actions: ToolActions;
  /**
   * The headers that toolsets of the app name, from the request that started the run, by lower-case name. Undefined if
   * this process did not receive that request: they are never stored.
   */
  readonly requestHeaders?: ReadonlyMap<string, string>;
  /** Sends the progress of this call to watchers of the run. Not stored. */
  progress(update: JsonValue): void;
}
