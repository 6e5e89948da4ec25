import type { CallRecord } from "./call-record.ts";
import type { ConfirmationRecord } from "./confirmation-record.ts";
import type { GrantRecord } from "./grant-record.ts";

/** A conversation, and the unit of serialisation: every change in it moves `version` by one. */
export interface SessionRecord {
  readonly key: string;
  readonly app: string;
  readonly user: string;
  readonly id: string;
  readonly version: number;
  readonly nextSeq: number;
  /** How many confirmations are open. The flood limit uses it, so that nothing has to be counted. */
  readonly open: number;
  /** How many frames wait for their next step. A step that ends uses it, so that nothing has to be searched. */
  readonly ready: number;
  /** How many bytes its events take. The session's limit uses it, so that they need not be read. */
  readonly bytes: number;
  readonly chain: ChainHead;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
  /** Only its name and the end of its chain are left. It never changes again. */
  readonly pruned?: Pruned;
  /** Grants for further calls of the session. */
  readonly grants?: readonly GrantRecord[];
}

/** Says that a session's lines of the log are gone, or about to go; `file`: the archive file that they are in. */
export interface Pruned {
  readonly file?: number;
}

/** The last line of a session's log. */
export interface ChainHead {
  readonly n: number;
  readonly hash: string;
}

/** What an erasure leaves of a session's calls and confirmations: ids, statuses, digests, who decided and when. */
export interface Remains {
  readonly calls: readonly CallRecord[];
  readonly confirmations: readonly ConfirmationRecord[];
}
