import type { ChainHead, CheckpointRecord, JournalRecord, LogRow, Remains } from "../ledger/index.ts";

/** Which records or lines, by their position in the whole journal or in a session's. */
export interface JournalRange {
  readonly after: number;
  readonly limit: number;
  /** Their bodies are no more than this together; one is given at least, so that only the end gives none. */
  readonly bytes?: number;
}

/** For reading backwards. */
export interface NewestRange {
  readonly until?: number;
  /** The newest of the range in place of the oldest; still in order. */
  readonly last?: true;
}

/** A line of the log as it was read. A database that crashed since may have lost it, and have another of the same number. */
export type ReadLine = Pick<LogRow, "seq" | "hash">;

/** What a checkpoint was made of. */
export interface SealedUpon {
  /** The hash of the checkpoint before it; absent for the first. */
  readonly previous?: string;
  /** Of the lines that it covers, the last of each page that was read. Where that one is there, no number below it was used again. */
  readonly rows: readonly ReadLine[];
}

/** What happened, as the ledger keeps it, and the seals over it. Rows are written by commits only. */
export interface Journal {
  /** The lines of the log are numbered from 1 without gaps, so that a gap is a loss. */
  readonly gapless: boolean;
  /** The log in the order of commits, for sealing and verification. */
  rows(range: JournalRange & NewestRange): Promise<readonly LogRow[]>;
  /** One session's lines of the log; `after` is an `n`. */
  sessionRows(session: string, range: JournalRange): Promise<readonly LogRow[]>;
  /** Journal records in the order of commits, for the feed and the outbox. */
  records(range: JournalRange & { readonly until?: number }): Promise<readonly JournalRecord[]>;
  /** The records at these places, in order; missing ones are left out. */
  recordsAt(seqs: readonly number[]): Promise<readonly JournalRecord[]>;
  /** One session's records, in order; `after` is an `n`. */
  sessionRecords(session: string, range: JournalRange): Promise<readonly JournalRecord[]>;
  /** The newest record; undefined where there is none. */
  lastRecord(): Promise<JournalRecord | undefined>;
  /** Every session's key and the end of its log, deleted ones included, in key order. `pruned`: it is buried. */
  streams(
    after: string,
    limit: number,
  ): Promise<readonly { readonly key: string; readonly chain: ChainHead; readonly pruned?: true }[]>;
  checkpoints(after: number, limit: number): Promise<readonly CheckpointRecord[]>;
  lastCheckpoint(): Promise<CheckpointRecord | undefined>;
  /**
   * False when another process sealed first, or when what it was made of is not there any more: a database that crashed
   * or failed over since may have lost it, and made other records of the same numbers.
   */
  seal(checkpoint: CheckpointRecord, upon?: SealedUpon): Promise<boolean>;
  /** What an erasure leaves, or would leave, of a session's calls and confirmations: they are archived with its records. */
  remains(session: string): Promise<Remains>;
  /** Removes the lines of the log of sessions that are buried; of all at the same moment. It can be repeated. */
  dropLines(sessions: readonly string[]): Promise<void>;
}
