import type { JsonObject } from "../protocol/index.ts";

/** What an operator has to know: the ledger no longer has something that it had acknowledged. */
export interface LedgerNotice {
  readonly kind: "new-history" | "lost-commits" | "lost-claim";
  readonly message: string;
  readonly details: JsonObject;
}

export type Notify = (notice: LedgerNotice) => void;
