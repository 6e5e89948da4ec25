import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type {
  CallStatus,
  ChainHead,
  CheckpointRecord,
  Escalation,
  GrantLimits,
  PolicyNote,
  Vote,
  VoteSlot,
} from "../ledger/index.ts";
import type { Approvers, DelegationScope, PrincipalKind, Requirement } from "../people/index.ts";
import type { LinesLeft } from "./line-sum.ts";

/** Somebody, as the journal names them. */
export interface JournalPerson {
  readonly id: string;
  readonly kind: PrincipalKind;
  readonly authenticated: boolean;
  readonly onBehalfOf?: string;
}

/** Who did it, and through which entry point. */
export interface ActedBy {
  readonly by: JournalPerson;
  readonly via: string;
}

/** A record about one call. */
export interface AboutCall {
  readonly call: string;
  readonly tool: string;
}

/** A record about one attempt at a call. */
export interface AboutAttempt extends AboutCall {
  readonly attempt: number;
}

/** A record about one question. */
export interface AboutQuestion extends AboutCall {
  readonly confirmation: string;
  readonly round: number;
  /** The digest of the arguments that the question is about. */
  readonly argsDigest: string;
}

export interface QuestionAsked extends AboutQuestion {
  readonly app: string;
  readonly agent: string;
  readonly path: readonly string[];
  readonly user: string;
  readonly requesters: readonly string[];
  /** Without its secrets. */
  readonly args: JsonObject;
  readonly hint: string;
  readonly why: readonly string[];
  readonly requirements: readonly Requirement[];
  readonly denials?: number;
  readonly escalations?: readonly Escalation[];
  readonly definitionDigest: string;
  readonly expiresAt?: number;
  /** Which rules applied, and what they saw. */
  readonly policy?: readonly PolicyNote[];
  /** The most that an approval may grant. */
  readonly grants?: GrantLimits;
  /** A link in a mail may decide it without a login. */
  readonly byMail?: true;
  /** The channels that get it; all if absent. */
  readonly notify?: readonly string[];
}

/** Which rules applied to a call that nobody was asked about. */
interface Ruled {
  readonly policy?: readonly PolicyNote[];
}

/** A vote as the journal keeps it. The payload may hold anything a person typed, so it stays with the vote. */
export interface VoteCast extends ActedBy {
  readonly confirmed: boolean;
  /** The person behind the login. */
  readonly person: string;
  /** Which requirement an approval fills, and which place of it. */
  readonly slot?: VoteSlot;
  /** For whom it was given, and by which delegation. */
  readonly delegated?: NonNullable<Vote["delegated"]>;
  /** Whose votes ended with this one: the voter's own earlier one, and those that no longer count. */
  readonly ended?: readonly string[];
  readonly reason?: string;
  /** What the voter grants beside the call. */
  readonly grant?: GrantLimits;
  readonly mac?: string;
}

/** What an approver changed: the names, and the arguments that run instead, without secrets. */
export interface Amended {
  readonly fields: readonly string[];
  readonly args: JsonObject;
}

export interface QuestionWithdrawn extends AboutQuestion, Partial<ActedBy> {
  readonly reason: string;
  /** Its call ran already, and is now `unknown`. */
  readonly callMayHaveRun?: true;
}

/** Somebody tried what is not theirs to do. */
export interface DecisionRefused extends AboutCall, Partial<Omit<AboutQuestion, keyof AboutCall>>, ActedBy {
  readonly code: string;
  readonly what?: "decide" | "settle" | "cancel";
  readonly confirmed?: boolean;
}

export interface CallStarted extends AboutAttempt, Ruled {
  readonly owner: string;
  readonly argsDigest: string;
  /** Who used the gated function. */
  readonly by?: string;
}

/** A call's own word on how it ended. */
export interface CallEnded extends AboutAttempt {
  readonly resultDigest?: string;
  readonly code?: string;
  /** Its outcome was `unknown` by then. */
  readonly late?: true;
}

/** What is known of an attempt whose end could not be recorded. */
export interface LateEnd {
  readonly outcome?: string;
  readonly result?: JsonValue;
  /** The call's status when this was found. */
  readonly statusThen?: CallStatus;
}

export interface CallUnknown extends AboutAttempt, LateEnd, Partial<ActedBy> {
  readonly reason: string;
  readonly owner?: string;
}

export interface CallReleased extends AboutAttempt {
  readonly reason?: string;
  readonly owner?: string;
}

export interface CallSettled extends AboutAttempt, ActedBy {
  readonly as: "succeeded" | "failed" | "retry";
  /** It did not happen, not even in part. */
  readonly happened?: false;
  /** What the call is now; not for a retry. */
  readonly status?: CallStatus;
}

/** A grant was given with the approval of a question. */
export interface GrantMinted extends AboutCall {
  readonly grant: string;
  readonly confirmation: string;
  readonly agent: string;
  readonly definitionDigest: string;
  readonly by: readonly string[];
  readonly limits: GrantLimits;
  readonly endsAt: number;
}

/** A grant let a call run. */
export interface GrantUsed extends AboutCall {
  readonly grant: string;
  /** Who gave it. */
  readonly by: readonly string[];
  /** With this one. */
  readonly uses: number;
  /** The sums with this call, as decimals, by argument. */
  readonly spent: { readonly [argument: string]: string };
}

/** A call that a grant let run did not happen, so the grant got back what the call took. */
export interface GrantRefunded extends AboutCall {
  readonly grant: string;
  /** Without this one. */
  readonly uses: number;
  /** The sums without this call, as decimals, by argument. */
  readonly spent: { readonly [argument: string]: string };
}

/** Grants of the session that did not let a call run, so that a person is asked. */
export interface GrantRefused extends AboutCall {
  readonly refused: readonly { readonly grant: string; readonly reason: string }[];
}

export interface GrantRevoked extends Partial<ActedBy> {
  readonly grant: string;
  readonly tool: string;
  readonly uses: number;
  readonly reason?: string;
}

/** Somebody lets another person vote for them, or not any more. */
export interface DelegationNoted extends ActedBy {
  readonly delegation: string;
  readonly from: string;
  readonly to: string;
}

/** Somebody orders that content is kept. */
export interface HoldPlaced extends ActedBy {
  readonly hold: string;
  readonly on: "session" | "user" | "app";
  /** For a person, the pseudonym. */
  readonly name: string;
  readonly reason: string;
}

/** A tenant, as the registry's journal tells of it. */
export interface TenantNoted extends ActedBy {
  readonly tenant: string;
  readonly ledger: string;
  /** The state that it had; absent for a new one. */
  readonly from?: string;
  readonly to: string;
  readonly limits?: JsonObject;
  readonly reason?: string;
}

export interface StepNoted extends AboutAttempt {
  readonly step: string;
}

/** Records of these say up to which record of their session the content was erased. */
interface Erasure {
  readonly erased: number;
}

/** What a record of each kind says. A kind that is not here cannot be written. */
export interface JournalBodies {
  readonly "confirmation-requested": QuestionAsked;
  readonly "confirmation-approved": AboutQuestion &
    VoteCast & {
      readonly started?: { readonly attempt: number; readonly owner: string };
      readonly amended?: Amended;
    };
  readonly "confirmation-denied": AboutQuestion & VoteCast;
  /** A vote that does not decide yet. */
  readonly "vote-cast": AboutQuestion & VoteCast;
  readonly "vote-withdrawn": AboutQuestion & ActedBy & { readonly person: string };
  /** Somebody opened it, for the first time. */
  readonly "confirmation-seen": AboutQuestion & ActedBy & { readonly person: string };
  /** `due`: the time of the rule; it may have been written later. */
  readonly "confirmation-reminded": AboutQuestion & { readonly due: number };
  readonly "confirmation-escalated": AboutQuestion & {
    readonly due: number;
    readonly to: Approvers;
    readonly group?: string;
  };
  readonly "confirmation-expired": AboutQuestion;
  readonly "confirmation-cancelled": QuestionWithdrawn;
  readonly "confirmation-restored": AboutQuestion &
    ActedBy & {
      readonly reason: string;
      /** Whose votes ended: they were given before. */
      readonly ended?: readonly string[];
    };
  readonly "decision-refused": DecisionRefused;
  readonly "calls-started": {
    readonly owner: string;
    readonly calls: readonly (AboutAttempt & Ruled & { readonly argsDigest: string })[];
  };
  readonly "calls-answered": {
    readonly calls: readonly (AboutCall &
      Ruled & { readonly status: CallStatus; readonly argsDigest: string })[];
  };
  /** Needed nobody's approval; its caller may run it. */
  readonly "call-allowed": AboutCall & Ruled & { readonly argsDigest: string; readonly by: string };
  readonly "call-started": CallStarted;
  readonly "call-succeeded": CallEnded;
  readonly "call-failed": CallEnded;
  readonly "call-denied": CallEnded;
  readonly "call-expired": CallEnded;
  readonly "call-cancelled": AboutCall & { readonly reason: string };
  readonly "call-unknown": CallUnknown;
  readonly "call-released": CallReleased;
  readonly "call-delegated": AboutCall & { readonly agent: string };
  readonly "call-returned": AboutCall & { readonly status: "done" | "failed" | "cancelled" };
  readonly "call-result": AboutAttempt & { readonly resultDigest: string };
  readonly "call-settled": CallSettled;
  readonly "late-result": AboutAttempt & LateEnd;
  readonly "grant-minted": GrantMinted;
  readonly "grant-used": GrantUsed;
  readonly "grant-refunded": GrantRefunded;
  readonly "grant-refused": GrantRefused;
  readonly "grant-revoked": GrantRevoked;
  readonly "step-started": StepNoted;
  readonly "step-done": StepNoted;
  readonly "step-failed": StepNoted;
  readonly "delegation-made": DelegationNoted & { readonly until: number; readonly scope?: DelegationScope };
  readonly "delegation-revoked": DelegationNoted;
  readonly "hold-placed": HoldPlaced;
  readonly "hold-released": ActedBy & { readonly hold: string; readonly reason: string };
  readonly "tenant-changed": TenantNoted;
  readonly "run-cancelled": { readonly invocation: string; readonly reason: string };
  readonly "session-imported": { readonly by: string; readonly events: number };
  readonly "session-deleted": Erasure & { readonly by: string };
  readonly "session-pruned": Erasure & { readonly before: number; readonly tools?: readonly string[] };
  /** A person was erased; `person` is the pseudonym, `others` those of their other ids. `left`: how many sessions could not be erased then. */
  readonly "person-erased": ActedBy & {
    readonly person: string;
    readonly others?: readonly string[];
    readonly sessions: number;
    readonly items: number;
    readonly left: number;
  };
  /** Content that was past its age was erased, under the rules of this version. */
  readonly "retention-run": ActedBy & {
    readonly rules: string;
    readonly erased: number;
    readonly held: number;
  };
  /** Sessions were written into an archive file; `seal` is the one at the file's end. */
  readonly "journal-archived": ActedBy & {
    readonly file: number;
    readonly seal: string;
    readonly sessions: number;
  };
  /**
   * Lines of the log were removed under the rules of this version. Of all lines up to `upTo`, the last that the checkpoint
   * covers, those are left that `left` is the sum of. `sessions`: whose lines went with this record, where their chains ended, and
   * in which archive file they are.
   */
  readonly "journal-pruned": ActedBy & {
    readonly rules: string;
    readonly checkpoint: Pick<CheckpointRecord, "k" | "hash">;
    readonly upTo: number;
    readonly left: LinesLeft;
    readonly sessions: readonly PrunedSession[];
  };
}

/** A session whose lines were removed. */
export interface PrunedSession extends ChainHead {
  readonly key: string;
  readonly file?: number;
}

export type JournalKind = keyof JournalBodies;

/** A record's kind with what it says. */
export type JournalEntry<Kind extends JournalKind = JournalKind> = {
  readonly [kind in Kind]: { readonly kind: kind; readonly body: JournalBodies[kind] };
}[Kind];

/** What a record of this kind says; of any of several kinds, what fits them all. */
export type BodyOf<Kind extends JournalKind> = (
  Kind extends JournalKind
    ? (body: JournalBodies[Kind]) => void
    : never
) extends (body: infer Body) => void
  ? Body
  : never;
