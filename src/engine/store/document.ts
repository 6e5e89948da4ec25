import type {
  CallRecord,
  ChainHead,
  ConfirmationRecord,
  FrameRecord,
  SessionName,
  StepRecord,
} from "../ledger/index.ts";

/** Members whose values are too long for a document: which log row of the session has the whole of each. */
export interface LongMembers {
  readonly [member: string]: number;
}

/** A row as its document has it. A long value is cut to its beginning there. */
export type Packed<Row> = Row & { readonly long?: LongMembers };

/** How a session stands, beside its rows. */
export interface SessionHead extends SessionName {
  readonly nextSeq: number;
  readonly open: number;
  readonly ready: number;
  readonly bytes: number;
  readonly chain: ChainHead;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
}

/**
 * All that a session's next commit has to know. What is over leaves it, so that it stays small whatever the age of the
 * session; it is found in the log from then on.
 */
export interface SessionDocument {
  readonly head: SessionHead;
  readonly frames: readonly Packed<FrameRecord>[];
  readonly calls: readonly Packed<CallRecord>[];
  readonly confirmations: readonly Packed<ConfirmationRecord>[];
  readonly steps: readonly Packed<StepRecord>[];
}

/** Tells a step from all others of its session. */
export function stepName({ call, kind, name, occurrence }: StepRecord): string {
  return JSON.stringify([call, kind, name, occurrence]);
}
