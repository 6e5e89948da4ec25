/** How this process uses its database connections, and how often it retried. */
export interface LedgerStats {
  readonly pool: {
    /** How many there may be. */
    readonly size: number;
    readonly open: number;
    readonly idle: number;
    /** Statements that wait for one. */
    readonly waiting: number;
  };
  /** Statements since the ledger was opened, including retries. */
  readonly statements: number;
  /** Retries after a deadlock, a lock timeout or a serialization failure. */
  readonly retries: number;
  /** Retries after a lost connection. */
  readonly reconnects: number;
}
