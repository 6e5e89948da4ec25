import type { Ledger } from "../ledger.ts";

/** What a store brings to the suite: a ledger, made anew for every case. */
export interface LedgerSubject {
  /** A fresh, empty ledger that judges time by `clock`. */
  readonly open: () => Promise<Ledger>;
  /** A second handle on the ledger opened last, as another process would have it. */
  readonly reopen: () => Promise<Ledger>;
  readonly clock: { now(): number; advance(ms: number): Promise<void> | void };
}

/** One promise of the interface; `run` throws where it is not kept. */
export interface LedgerCase {
  /** A claim about behaviour. */
  readonly name: string;
  /** Only for stores that outlive a handle: others cannot implement `reopen`. */
  readonly needs?: "reopen";
  readonly run: (subject: LedgerSubject) => Promise<void>;
}
