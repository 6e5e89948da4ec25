import type { JsonValue } from "../../../protocol/index.ts";

/**
 * One line of the log: everything that one commit says has happened. Its hash ties it to the line before it in its session.
 */
export interface LogRow {
  /** Position in the whole log, in the order of commits. */
  readonly seq: number;
  readonly session: string;
  /** Counts the lines of one session from 1: the session's version after the commit. */
  readonly n: number;
  readonly at: number;
  /** The kinds of its records, in order. They stay when the body is erased. */
  readonly kinds: readonly string[];
  /** The digest of the body. */
  readonly digest: string;
  readonly hash: string;
  /** How many events the session has with this line. */
  readonly events: number;
  /** Its records and events as JSON, see `rowBody`. Null once erased; the digest stays, so the chain still verifies. */
  readonly body: string | null;
}

/**
 * One thing that happened, as stored in the log. The audit journal, the live feed and the outbox are all read from it.
 */
export interface JournalRecord {
  /** Position in the whole journal, in the order of commits. Positions increase; they are not consecutive. */
  readonly seq: number;
  readonly stream: string;
  /** Position in its session's journal. Positions increase; they are not consecutive. */
  readonly n: number;
  readonly at: number;
  readonly kind: string;
  /** The hash of the log line that it is in. */
  readonly hash: string;
  /** Null once erased. */
  readonly body: JsonValue;
}

/** A seal over all lines of the log up to `lastSeq`. */
export interface CheckpointRecord {
  readonly k: number;
  readonly lastSeq: number;
  readonly count: number;
  readonly root: string;
  readonly hash: string;
  readonly at: number;
}
