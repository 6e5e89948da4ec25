import type { CallContext } from "../engine/index.ts";
import type { JsonValue, ToolConfirmation } from "../protocol/index.ts";
import type { State } from "./state.ts";

/** A decision with the payload's type as the tool declared it. */
export type TypedConfirmation<Payload> = Omit<ToolConfirmation, "payload"> & { readonly payload?: Payload };

/** What a tool's body is given besides its arguments. */
export interface ToolContext<Payload = JsonValue> extends Omit<CallContext, "toolConfirmation"> {
  /** The decision that let this run start, where there was one. */
  readonly toolConfirmation?: TypedConfirmation<Payload>;
  readonly agentName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly invocationId: string;
  readonly functionCallId: string;
  readonly state: State;
  /** Tells whoever watches the run how far this call has come. Not stored. */
  progress(update: JsonValue): void;
}
