/** How one process's connections to its database's server are used, and how often something had to be tried again. */
export interface LedgerStats {
  readonly pool: {
    /** How many there may be. */
    readonly size: number;
    readonly open: number;
    readonly idle: number;
    /** Statements that wait for one. */
    readonly waiting: number;
  };
  /** Statements since the ledger was opened, each try counted. */
  readonly statements: number;
  /** Tries after a deadlock, a lock that was waited for in vain, or a serialization failure. */
  readonly retries: number;
  /** Tries after a connection was lost. */
  readonly reconnects: number;
}
