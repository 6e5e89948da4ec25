import { CountersignError, type ErrorCode, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { Claimed } from "../calls/index.ts";
import type { GrantTerms } from "../grants/index.ts";
import type {
  CallRecord,
  ConfirmationRecord,
  Conflict,
  FrameRecord,
  SessionRecord,
  Snapshot,
} from "../ledger/index.ts";
import type { Counting, Principal } from "../people/index.ts";
import type { VotesSoFar } from "./vote.ts";

/** One person's decision about one confirmation. */
export interface DecisionInput {
  readonly id: string;
  readonly confirmed: boolean;
  readonly payload?: JsonValue;
  readonly reason?: string;
  /** The arguments to run instead, if the tool allows that. */
  readonly args?: JsonObject;
  /** What is granted with the approval: further calls like this one run without asking, within these limits. */
  readonly grant?: GrantTerms;
  /** The version that was shown; the decision is refused if it has changed since. */
  readonly version?: number;
}

/** A confirmation, or a call that nobody was asked about. */
export type DecisionTarget = { readonly confirmation: string } | { readonly call: string };

/** Who decides, and by which way in (`via`). */
export interface Decider {
  readonly by: Principal;
  readonly via: string;
}

/**
 * Something in the ledger that a decision uses up, as a link that decides once: it changes in the commit of the
 * decision, or neither does.
 */
export interface UsedUp {
  readonly kind: string;
  readonly id: string;
  readonly expiresAt: number;
  /** The caller found nothing stored. It is read only if the commit finds something. */
  readonly isNew?: boolean;
  /** The value to store in place of the current one, if any; undefined if it was used, and the decision is refused. */
  readonly use: (value: JsonValue | undefined) => JsonValue | undefined;
}

/** A refusal and its reason. Nothing changed, except that some refusals are journalled. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  /** The member of the request that is wrong. */
  readonly field?: string;
}

/** A refused decision, with the records it was about. */
export interface RefusedDecision extends Refusal {
  readonly session?: SessionRecord;
  readonly confirmation?: ConfirmationRecord;
  readonly call?: CallRecord;
  /** The refusal ended the call and its turn; this process continues the frame. */
  readonly stepping?: FrameRecord;
}

/**
 * A committed decision or vote, or the stored one that this repeats. If more votes are needed, the confirmation is
 * still `requested`.
 */
export interface Decided {
  readonly ok: true;
  /** The record before this decision. */
  readonly session: SessionRecord;
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  /** The same decision was already stored. */
  readonly repeated: boolean;
  readonly claimed?: Claimed;
  readonly stepping?: FrameRecord;
}

/** A confirmation with everything that a decision on it needs. */
export type Whole = Snapshot & { readonly call: CallRecord; readonly confirmation: ConfirmationRecord };

/** One decision being committed, and why the last try was refused. */
export interface Case {
  readonly input: DecisionInput;
  readonly decider: Decider;
  readonly last: Conflict | undefined;
}

/** The same, with the owner under which its call would be claimed here, and the votes so far. */
export interface OwnedCase extends Case {
  readonly owner: string | undefined;
  readonly votesSoFar: VotesSoFar;
  readonly counting: Counting;
}

/** A refusal as an error, for callers with a single request. */
export function refusalError({ code, message, field }: Refusal): CountersignError {
  return new CountersignError(code, message, field === undefined ? {} : { details: { field } });
}

/** A refused decision, and why. */
export function refusal(code: ErrorCode, message: string): Refusal {
  return { ok: false, code, message };
}
