import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { FrameKind } from "../ledger/index.ts";

/** Work that a call delegates to another agent, in its own frame. */
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
  /** Late results of earlier calls of the same frame, by call id. */
  readonly learned?: { readonly [call: string]: JsonValue };
  /** Instead of a result: the call gets the result of this delegated work. */
  readonly delegation?: Delegation;
}

/** How a function ends if it has more than a result. */
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

/** The id of the frame that a delegating call opens. Derived from the call's id, so that no index is needed. */
export function delegateFrameId(callId: string): string {
  return `${callId}/frame`;
}
