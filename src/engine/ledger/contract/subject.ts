import type { Ledger } from "../ledger.ts";

/** What a store provides to the suite: a new ledger for every case. */
export interface LedgerSubject {
  /** A fresh, empty ledger that judges time by `clock`. */
  readonly open: () => Promise<Ledger>;
  /** A second handle on the ledger opened last, as another process would have it. */
  readonly reopen: () => Promise<Ledger>;
  readonly clock: { now(): number; advance(ms: number): Promise<void> | void };
}

/** One requirement of the interface; `run` throws if it is not met. */
export interface LedgerCase {
  /** A claim about behaviour. */
  readonly name: string;
  /** Only for stores that outlive a handle: others cannot implement `reopen`. */
  readonly needs?: "reopen";
  readonly run: (subject: LedgerSubject) => Promise<void>;
}
