/** One process's lease on everything it has claimed. */
export interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** The history that its process has compared with what it knows; left out, the one that the ledger is on. */
  readonly history?: string;
}

/**
 * Identifies the history of a ledger. It changes when a server was replaced by one that may not have had all
 * of the last commits: a standby, or what was restored from a backup.
 */
export interface LedgerHistory {
  readonly id: string;
  /** How long nobody may claim yet: until one lease after it was first seen, unless it is the ledger's first. */
  readonly claimsInMs: number;
}

/** What an owner holds, as the ledger has it. */
export interface HeldWork {
  /** Calls that execute under it. */
  readonly calls: readonly { readonly id: string; readonly attempt: number }[];
  /** Frames whose step is its. */
  readonly frames: readonly { readonly id: string; readonly turn: number }[];
}

/** What is known of whoever holds a claim: shown to the person who settles an unknown outcome. */
export interface OwnerState extends Omit<Owner, "history"> {
  readonly lastBeatAt: number;
  readonly leaseUntil: number;
  /** Its lease is running, by the ledger's clock, and was never lost. */
  readonly alive: boolean;
  /** Others may take its work. An owner whose lease has run out, and who is not fenced yet, may still renew it. */
  readonly fenced: boolean;
}

/** Who may hold claims, as the ledger knows them. */
export interface Owners {
  /** Registers an owner or renews its lease. False: its lease ran out and its work was given away. */
  beat(owner: Owner, leaseMs: number): Promise<boolean>;
  /** The current history of the ledger; a history that nobody has seen yet begins when this is called. */
  history(leaseMs: number): Promise<LedgerHistory>;
  /** Ends a lease early; what it still holds becomes due at once. */
  retire(owner: string): Promise<void>;
  get(id: string): Promise<OwnerState | undefined>;
  /** What this owner holds, in no particular order. Asked with each heartbeat. */
  held(owner: string): Promise<HeldWork>;
}
