/** A file as it was after the last batch. */
export interface FileNote {
  readonly inode: string;
  readonly size: number;
}

/** What became of a batch. */
export type Written =
  | {
      readonly ok: true;
      readonly file?: FileNote;
      /** It arrived, and the operator must know something. */
      readonly warning?: string;
    }
  | {
      readonly ok: false;
      /** For the operator; must not contain a secret. */
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** Something in the batch is refused, and will be again. A smaller batch may be accepted. */
      readonly isRefused?: true;
    };

/** A batch of lines, without their line ends. */
export interface Batch {
  readonly lines: readonly string[];
  /** The note of the batch before. */
  readonly file?: FileNote | undefined;
}

/** Where lines are written to. */
export interface Target {
  /** Resolves to success only once the lines are safe there. Must end soon after the signal aborts. */
  write(batch: Batch, signal: AbortSignal): Promise<Written>;
  /** What is wrong with it, found without writing anything. */
  check(): Promise<readonly string[]>;
}
