import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { FrameKind } from "../ledger/index.ts";

/** Work that a call hands to another agent, in a frame of its own. */
export interface Delegation {
  readonly kind: FrameKind;
  readonly agent: string;
  readonly branch: string;
  /** What the agent is asked. */
  readonly message: string;
}

export interface CallEndOptions {
  readonly result?: JsonValue | undefined;
  /** Committed with the result. */
  readonly stateDelta?: JsonObject;
  /** Merged into the frame's cursor with the result. */
  readonly cursor?: JsonObject;
  /** By their ids, calls of the same frame that succeeded before: their results, as they are known only now. */
  readonly learned?: { readonly [call: string]: JsonValue };
  /** Instead of a result: the call is answered by whatever this ends with. */
  readonly delegation?: Delegation;
}

/** How a body ends when there is more to say than its result. */
export class CallEnd {
  readonly result: JsonValue | undefined;
  readonly stateDelta: JsonObject;
  readonly cursor: JsonObject | undefined;
  readonly learned: { readonly [call: string]: JsonValue } | undefined;
  readonly delegation: Delegation | undefined;

  constructor(options: CallEndOptions) {
    this.result = options.result;
    this.stateDelta = options.stateDelta ?? {};
    this.cursor = options.cursor;
    this.learned = options.learned;
    this.delegation = options.delegation;
  }
}

/** The frame that a delegating call opens. From the call's id, so that it can be found without an index. */
export function delegateFrameId(callId: string): string {
  return `${callId}/frame`;
}
