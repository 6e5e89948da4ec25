import type { JsonObject } from "../../protocol/index.ts";

export const NOTICE_KINDS = ["new-history", "lost-commits", "lost-claim"] as const;

/** A message for the operator: the ledger lost something that it had acknowledged. */
export interface LedgerNotice {
  readonly kind: (typeof NOTICE_KINDS)[number];
  readonly message: string;
  readonly details: JsonObject;
}

export type Notify = (notice: LedgerNotice) => void;
