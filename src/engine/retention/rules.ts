/**
 * For how long content is kept. A session is judged by its app and by all tools that were called in it; the longest time
 * counts, and what no rule is about is kept.
 */
export interface RetentionRules {
  /** Tells these rules from others; journalled with every run. */
  readonly version: string;
  /** The shortest time of all rules; undefined if there is none. Nothing younger need be looked at. */
  readonly shortestContentMs: number | undefined;
  /** For how long content of a session is kept after the last thing that happened in it; undefined: for ever. */
  contentMs(app: string, tools: ReadonlySet<string>): number | undefined;
  /** For how long the journal is kept; absent: for ever. */
  readonly journal?: JournalRules;
}

/** For how long the records of erased sessions are kept. */
export interface JournalRules {
  /** The shortest time of all rules. */
  readonly shortestMs: number;
  /** For how long a session's records are kept after the last of them; undefined: for ever. */
  keepMs(app: string, tools: ReadonlySet<string>): number | undefined;
}
