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
 * An agent whose work is done elsewhere. The runtime keeps its frames, puts its questions and records what it says; the
 * agent says what comes next, and does it in calls, so that a crash anywhere leaves a frame or a call to go on with.
 */
export interface ForeignAgent extends AnyAgent {
  readonly kind: "remote";
  /** What comes next, judged by nothing but what is stored. May be asked again after a crash; does nothing itself. */
  next(progress: ForeignProgress): ForeignMove | Promise<ForeignMove>;
  /** Does one of its calls. After a crash it is entered again, with the same `idempotencyKey`. */
  perform(call: CallRecord, context: ForeignContext): Promise<JsonValue | CallEnd>;
  /**
   * Was what people are asked here decided where the work is done? Why the questions are taken back, if so. Asked now
   * and then while questions of a frame are open, with the last note of it; throws where that cannot be found out now.
   */
  decidedElsewhere?(note: JsonObject, signal: AbortSignal): Promise<string | undefined>;
  /**
   * The run was stopped: calls its work off where it is done. Asked until it resolves, so more than once perhaps; throws
   * where it has to be asked again.
   */
  callOff?(note: JsonObject, signal: AbortSignal): Promise<void>;
}

/** Where a frame of such an agent stands. */
export interface ForeignProgress {
  readonly cursor: FrameRecord["cursor"];
  /** The calls of its last turn, in order, each with its answer; none at its first step. */
  readonly calls: readonly ForeignCall[];
  /** What was still asked in that turn was decided where the work is done, and taken back here. */
  readonly decidedElsewhere: boolean;
  /** What it is asked: all that was said since it last spoke. */
  words(): Promise<string>;
  /** What it last wanted to remember of this conversation; nothing where it was called like a tool. */
  remembered(): Promise<JsonValue | undefined>;
}

/** A call that has its answer, and the question that was put about it, if one was. */
export interface ForeignCall {
  readonly call: CallRecord;
  readonly confirmation?: ConfirmationRecord;
}

export type ForeignMove =
  /** Its last words, and what it wants to find again when the conversation comes back to it. */
  | { readonly kind: "say"; readonly text: string; readonly remember?: JsonValue }
  | { readonly kind: "fail"; readonly message: string }
  /** One call of its own. Rules that forbid it are heeded; those that want a person asked, where it is `gated`. */
  | { readonly kind: "do"; readonly tool: string; readonly args: JsonObject; readonly gated: boolean }
  /** Questions for people, one call each; a call that is approved is then performed. */
  | { readonly kind: "ask"; readonly questions: readonly ForeignQuestion[] };

export interface ForeignQuestion {
  readonly tool: string;
  readonly args: JsonObject;
  readonly approvers: Approvers;
  /** Who asks, where that is not the agent itself. */
  readonly source?: string;
  /** What its card says. */
  readonly notes: CardNotes;
}

/** What a call of such an agent works with. */
export interface ForeignContext extends CallContext {
  /** Aborts when this process is about to end; the call is then left to another by throwing `CallAbandoned`. */
  readonly closing: AbortSignal;
  /** Aborts when the run was stopped. */
  readonly stopped: AbortSignal | undefined;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Notes that work for this frame goes on elsewhere, until the frame is over; from then on `decidedElsewhere` and
   * `callOff` are asked. On disk when it resolves; a later note takes its place.
   */
  note(note: JsonObject): Promise<void>;
}

export function isForeign(agent: AnyAgent): agent is ForeignAgent {
  return agent.kind === "remote";
}
