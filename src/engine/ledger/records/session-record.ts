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
  /** How many confirmations are open: what the flood limit compares with, without counting. */
  readonly open: number;
  /** How many frames wait for somebody to take their next step: what a step that ends looks at, without a search. */
  readonly ready: number;
  /** How much its events take: what the session's limit compares with, without reading them. */
  readonly bytes: number;
  readonly chain: ChainHead;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
  /** Grants for further calls of the session. */
  readonly grants?: readonly GrantRecord[];
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
