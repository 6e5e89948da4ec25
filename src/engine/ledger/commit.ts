import type { JsonObject } from "../../protocol/index.ts";
import type { ItemVersion, StoredItem } from "./key-value-store.ts";
import type { CallRecord, CallStatus, StepRecord, StepStatus } from "./records/call-record.ts";
import type { ConfirmationRecord, ConfirmationStatus } from "./records/confirmation-record.ts";
import type { FrameRecord, FrameStatus } from "./records/frame-record.ts";
import type { GrantRecord } from "./records/grant-record.ts";
import type { LogRow } from "./records/log-row.ts";
import type { ChainHead, SessionRecord } from "./records/session-record.ts";

/** What to read together, in one round trip. */
export type Target =
  /** With `key`, also its call with that name behind the session's own in its id, if it has one. */
  | { readonly session: SessionName; readonly key?: string }
  | { readonly sessionKey: string }
  | { readonly confirmation: string }
  | { readonly call: string }
  | { readonly frame: string };

/** A session as clients name it. Ids are unique only within an app and a user. */
export interface SessionName {
  readonly app: string;
  readonly user: string;
  readonly id: string;
}

/**
 * One consistent look at a session and the thing asked for. `session.version` is the token: a commit that
 * names it succeeds only if nothing in the session has changed since.
 */
export interface Snapshot {
  /** The ledger's clock at the time of reading. */
  readonly now: number;
  readonly session: SessionRecord;
  /** The call asked for, or the one that the confirmation is about. */
  readonly call?: CallRecord;
  /** The confirmation asked for, or the call's current one. */
  readonly confirmation?: ConfirmationRecord;
  /** The frame asked for, or the one that the call belongs to. */
  readonly frame?: FrameRecord;
}

export type FrameChange = Partial<
  Pick<FrameRecord, "status" | "turn" | "calls" | "open" | "cursor" | "output" | "agent" | "path" | "lost">
> & { readonly owner?: string | null };

export type CallChange = Partial<
  Pick<
    CallRecord,
    | "status"
    | "attempt"
    | "startedAt"
    | "endedAt"
    | "confirmation"
    | "rounds"
    | "refused"
    | "settled"
    | "result"
    | "args"
    | "originalArgs"
    | "argsDigest"
    | "definitionDigest"
    | "lost"
  >
> & { readonly owner?: string | null };

export type ConfirmationChange = Partial<
  Pick<
    ConfirmationRecord,
    | "status"
    | "votes"
    | "withdrawal"
    | "shown"
    | "shownVersion"
    | "argsDigest"
    | "requirements"
    | "policy"
    | "mac"
    | "reminders"
    | "escalations"
    | "seen"
  >
>;

/**
 * One guarded write. An update names the status (and for a call the attempt) it expects; if the row is not
 * in it, the whole commit is refused and nothing is written.
 */
export type Write =
  | {
      readonly kind: "frame-insert";
      readonly frame: FrameRecord;
      /** Refuse if another frame of the session is `stepping` in the same branch. */
      readonly exclusive?: boolean;
    }
  | {
      readonly kind: "frame-update";
      readonly id: string;
      readonly from: FrameStatus;
      /** Refuse if another frame of the session is `stepping` in the same branch. */
      readonly exclusive?: boolean;
      readonly set: FrameChange;
    }
  | { readonly kind: "call-insert"; readonly call: CallRecord }
  | {
      readonly kind: "call-update";
      readonly id: string;
      readonly from: CallStatus;
      readonly attempt: number;
      readonly set: CallChange;
    }
  | { readonly kind: "confirmation-insert"; readonly confirmation: ConfirmationRecord }
  | {
      readonly kind: "confirmation-update";
      readonly id: string;
      readonly from: ConfirmationStatus;
      /** Judged by the ledger's clock inside the transaction. */
      readonly deadline?: "ahead" | "passed";
      readonly set: ConfirmationChange;
    }
  /** Without `from` the step must not exist; with it, it must be in that status. */
  | { readonly kind: "step"; readonly step: StepRecord; readonly from?: StepStatus }
  /**
   * Without `from` the grant must not exist; with it, that must be its revision. `ahead`: only while its end is ahead,
   * by the ledger's clock inside the transaction.
   */
  | {
      readonly kind: "grant";
      readonly grant: GrantRecord;
      readonly from?: number;
      readonly ahead?: true;
    }
  | { readonly kind: "state"; readonly scope: "app" | "user" | "session"; readonly delta: JsonObject }
  /** Keeps an item in place of the version that was read (0: there was none); without a value, takes it away. */
  | { readonly kind: "item"; readonly item: ItemWrite; readonly read: number }
  /** Writes nothing: refuses the commit unless this item is there in this version. Any number may do so at once. */
  | { readonly kind: "check"; readonly item: ItemVersion }
  /** Erases content (events, arguments, results, hints, payloads, state, journal bodies); digests stay. */
  | { readonly kind: "erase" };

/** What becomes of an item that belongs to no session. */
export type ItemWrite = Pick<StoredItem, "kind" | "id" | "expiresAt"> & Partial<Pick<StoredItem, "value">>;

/** How the session row moves with a commit. */
export interface SessionChange {
  readonly nextSeq: number;
  readonly open: number;
  readonly ready: number;
  readonly bytes: number;
  readonly chain: ChainHead;
  readonly updatedAt: number;
  readonly deletedAt?: number;
}

/** Everything that becomes true at one moment, or not at all. */
export interface Commit {
  /** `version: 0` creates the session; it must not exist under its key or its name. */
  readonly session: {
    readonly key: string;
    readonly version: number;
    readonly create?: SessionName;
    /**
     * The hash at the chain's head as it was read. A database that outlives its server's crash, or fails over, may have
     * lost its last unsynced commits and made others since, of the same version: a store on such a one compares this.
     */
    readonly head?: string;
  };
  readonly change: SessionChange;
  readonly writes: readonly Write[];
  /** What it says has happened. */
  readonly log: Omit<LogRow, "seq">;
  /** Refuse unless this owner's lease is running, judged inside the transaction. */
  readonly owner?: string;
  /** On disk before the promise resolves: for what is acted upon at once, a decision or a claim. */
  readonly sync: boolean;
}

/**
 * `version`: the session changed, or exists already. `row`: a guarded row is not in the expected status.
 * `deadline`, `owner`, `busy`: that guard refused. `history`: as `owner`; its process has yet to confirm the ledger's
 * history, or nobody may claim yet. `suspended`: it names an owner, and the ledger is suspended: nothing starts. Read again
 * and judge anew; nothing was written. `version`
 * comes before all others: a guard's refusal means something only for the session as it was read.
 */
export type CommitOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly conflict: "version" | "row" | "deadline" | "owner" | "history" | "busy" | "suspended";
    };
