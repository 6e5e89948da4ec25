import { CountersignError } from "../../protocol/index.ts";
import { hmac } from "../common/index.ts";
import type { Ledger } from "./ledger.ts";

const PIN = "secret-check";
const NO_SECRET = "none";

/**
 * Refuses to write to a ledger that was created with another secret, or without one: what would be written could
 * not be verified with what is there, and the other processes would take our decisions for forged.
 */
export async function checkSecret(ledger: Ledger, secret: string | undefined): Promise<void> {
  const mine = secret === undefined ? NO_SECRET : hmac(secret, "countersign secret check");
  const pinned = await ledger.items.pin(PIN, mine);
  if (pinned === mine) return;
  const had = pinned === NO_SECRET ? "without a secret" : "with a different secret";
  const have =
    secret === undefined ? "no COUNTERSIGN_SECRET is set" : "COUNTERSIGN_SECRET has a different value";
  throw new CountersignError(
    "invalid-option",
    `This ledger was created ${had}, but ${have}. Every process must use the same secret.`,
    { details: { option: "secret" } },
  );
}
