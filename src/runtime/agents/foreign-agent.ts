import type {
  Approvers,
  CallContext,
  CallEnd,
  CallRecord,
  CardNotes,
  ConfirmationRecord,
  FrameRecord,
} from "../../engine/index.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { AnyAgent } from "./agent.ts";

/**
 * An agent whose work is done on another server. The runtime stores its frames, asks its questions and records what it
 * says. The agent says what comes next and does it in calls, so that a crash always leaves a frame or a call to
 * continue with.
 */
export interface ForeignAgent extends AnyAgent {
  readonly kind: "remote";
  /** What comes next, computed only from what is stored. May be called again after a crash; has no effects itself. */
  next(progress: ForeignProgress): ForeignMove | Promise<ForeignMove>;
  /** Does one of its calls. After a crash it runs again, with the same `idempotencyKey`. */
  perform(call: CallRecord, context: ForeignContext): Promise<JsonValue | CallEnd>;
  /**
   * Were the open questions decided on the remote server? If so, returns why they are withdrawn here. Called from time
   * to time while questions of a frame are open, with its last note; throws if the remote server cannot be asked now.
   */
  decidedElsewhere?(note: JsonObject, signal: AbortSignal): Promise<string | undefined>;
  /**
   * The run was stopped: cancels its work on the remote server. Called until it resolves, so maybe more than once;
   * throws if it must be called again.
   */
  callOff?(note: JsonObject, signal: AbortSignal): Promise<void>;
}

/** The state of a frame of such an agent. */
export interface ForeignProgress {
  readonly cursor: FrameRecord["cursor"];
  /** The calls of its last turn, in order, each with its answer; none at its first step. */
  readonly calls: readonly ForeignCall[];
  /** The open questions of that turn were decided on the remote server, and withdrawn here. */
  readonly decidedElsewhere: boolean;
  /** Its input: everything that was said since it last spoke. */
  words(): Promise<string>;
  /** Its last note about this conversation; none if it was called as a tool. */
  remembered(): Promise<JsonValue | undefined>;
}

/** An answered call, and the question about it, if there was one. */
export interface ForeignCall {
  readonly call: CallRecord;
  readonly confirmation?: ConfirmationRecord;
}

export type ForeignMove =
  /** Its final text, and a note for when the conversation comes back to it. */
  | { readonly kind: "say"; readonly text: string; readonly remember?: JsonValue }
  | { readonly kind: "fail"; readonly message: string }
  /** One call of its own. Deny rules apply; rules that ask a person apply only if it is `gated`. */
  | { readonly kind: "do"; readonly tool: string; readonly args: JsonObject; readonly gated: boolean }
  /** Questions for people, one call each; a call that is approved is then performed. */
  | { readonly kind: "ask"; readonly questions: readonly ForeignQuestion[] };

export interface ForeignQuestion {
  readonly tool: string;
  readonly args: JsonObject;
  readonly approvers: Approvers;
  /** Who asks, if not the agent itself. */
  readonly source?: string;
  /** What its card says. */
  readonly notes: CardNotes;
}

/** The context of a call of such an agent. */
export interface ForeignContext extends CallContext {
  /** Aborts when this process is about to end; the call is then left to another by throwing `CallAbandoned`. */
  readonly closing: AbortSignal;
  /** Aborts when the run was stopped. */
  readonly stopped: AbortSignal | undefined;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Stores a note that work for this frame continues on a remote server, until the frame is over; after that
   * `decidedElsewhere` and `callOff` are called. On disk when it resolves; a later note replaces it.
   */
  note(note: JsonObject): Promise<void>;
}

export function isForeign(agent: AnyAgent): agent is ForeignAgent {
  return agent.kind === "remote";
}
