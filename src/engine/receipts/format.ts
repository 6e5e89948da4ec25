import type { SigningKey } from "./signing-key.ts";

export const FORMAT = "countersign-receipt-v1";

/** What a ledger had at a time, as one of its processes says. The receipts of one target are a series. */
export interface Receipt {
  readonly receipt: typeof FORMAT;
  readonly ledger: string;
  /** The name of the target. */
  readonly target: string;
  /** From 1, without gaps. */
  readonly number: number;
  /** The signature of the receipt before it; empty in the first. */
  readonly follows: string;
  /** The newest checkpoint, as `audit head` prints it. */
  readonly head: string;
  /** How many commits that checkpoint covers. */
  readonly commits: number;
  /** ISO 8601, by the ledger's clock. */
  readonly at: string;
  /** The public key that the signature is checked with: Ed25519, base64url. */
  readonly key: string;
  readonly signature: string;
}

type Unsigned = Omit<Receipt, "receipt" | "key" | "signature">;

export function signReceipt(unsigned: Unsigned, { key, sign }: SigningKey): Receipt {
  const receipt = { receipt: FORMAT, ...unsigned, key } as const;
  return { ...receipt, signature: sign(signedText(receipt)) };
}

/** A JSON array is injective: no two different receipts have the same text. */
export function signedText({
  ledger,
  target,
  number,
  follows,
  head,
  commits,
  at,
  key,
}: Omit<Receipt, "signature">): string {
  return JSON.stringify([FORMAT, ledger, target, number, follows, head, commits, at, key]);
}
