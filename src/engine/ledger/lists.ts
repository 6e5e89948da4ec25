import type { Journal } from "../journal/index.ts";
import type { ShownStatus } from "../lifecycle/index.ts";
import type { DelegatedView } from "../people/index.ts";
import type { KeyValueStore } from "./key-value-store.ts";
import type { CallRecord } from "./records/call-record.ts";
import type { ConfirmationRecord } from "./records/confirmation-record.ts";
import type { GrantRecord } from "./records/grant-record.ts";
import type { SessionRecord } from "./records/session-record.ts";

/** A page of a list; `next` is absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

export interface PageRequest {
  readonly cursor?: string;
  readonly limit?: number;
}

/** What is listed for people to look through, where nobody acts on what the list alone says. */
export interface ListRequest extends PageRequest {
  /**
   * Long arguments, results and texts are cut to their beginning, and never read whole; what was cut says so. The page
   * ends early where it would hold more than a megabyte.
   */
  readonly preview?: true;
}

export interface GrantsRequest extends PageRequest {
  /** Only these. Pages are as if there were no others. */
  readonly where?: (grant: GrantRecord) => boolean;
}

export interface GrantWithSession {
  readonly grant: GrantRecord;
  readonly session: SessionRecord;
}

/** Which sessions. */
export type SessionFilter =
  /** The sessions of an app, or of one user of it, without deleted ones; by user and id. */
  | { readonly app: string; readonly user?: string }
  /**
   * Untouched since before this time, with nothing open in them; by key. Deleted ones only with `deleted`. A page may be
   * short or empty and still have a next page.
   */
  | { readonly idleSince: number; readonly deleted?: true }
  /** Every one, deleted ones included; by key. */
  | "all";

/** Which calls of unknown outcome. */
export interface UnknownCallsRequest extends ListRequest {
  /** Only those about which nobody was asked before they ran. */
  readonly unasked?: true;
  /** Only those that one of these asked for. */
  readonly askedBy?: readonly string[];
  /** With `askedBy`: also those that agents asked for, on nobody's behalf. */
  readonly ofAgents?: true;
  /** With `askedBy`: also those that ran under a grant which one of these may give: what somebody `viewsAs`. */
  readonly grantedTo?: readonly string[];
}

/** `open` lists what waits for a person, nearest deadline first; `closed` the rest, newest first. */
export interface ConfirmationFilter {
  readonly state: "open" | "closed";
  readonly app?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly user?: string;
  readonly session?: string;
  /** Only those that are shown to one of these: what somebody `viewsAs`. How many others there are costs nothing. */
  readonly viewers?: readonly string[];
  /** With `viewers`: also what is shown to these, as far as it is within the scope. */
  readonly delegated?: readonly DelegatedView[];
  /** Only those that show one of these. */
  readonly status?: readonly ShownStatus[];
  /** Only those of one turn: what `Confirmation.turn` says. Reads the session's calls, so not for hot paths. */
  readonly turn?: string;
  /**
   * Only those in whose tool, agent or arguments every one of these words is, or begins a word; see
   * `searchableWords`. Declared secrets are not found. Finds whatever was committed before it was asked, as long
   * as each commit that touches an open confirmation or its call has a journal record. Only for `open`.
   */
  readonly words?: string;
}

/** A confirmation with the call it is about, and the session's name for itself. */
export interface ConfirmationWithCall {
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly session: Pick<SessionRecord, "id">;
  /** Something of it was cut; see {@link ListRequest.preview}. */
  readonly truncated?: true;
}

/** Which of a session's events. */
export interface EventRange {
  readonly after?: number;
  readonly limit?: number;
  readonly last?: number;
  readonly bytes?: number;
}

/** What people look through. Nothing is judged by it: whoever acts on a row is judged on the ledger itself. */
export interface Lists {
  confirmations(filter: ConfirmationFilter, page?: ListRequest): Promise<Page<ConfirmationWithCall>>;
  readonly journal: Pick<Journal, "records" | "sessionRecords">;
  readonly items: Pick<KeyValueStore, "list">;
}

/**
 * Why no standby is read. `behind`: it lacks something that it must have. `promoted`: it follows no server.
 * `other-ledger`: it is no copy of this one. `failed`: a list could not be read there.
 */
export type StandbyProblem = "behind" | "unreachable" | "promoted" | "other-ledger" | "failed";

/** A standby that is as new as was asked. */
export interface FoundStandby {
  readonly lists: Lists;
  /** Everything that was committed before is in its lists; by the ledger's clock. */
  readonly asOf: number;
}

/** Servers that follow the one that the ledger is on. */
export interface Standbys {
  /** One that lacks nothing that was committed more than so long before this is asked; or why there is none. */
  find(maxAgeMs: number): Promise<FoundStandby | StandbyProblem>;
}
