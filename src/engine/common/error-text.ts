const UNREADABLE = "unreadable error";
const LONGEST = 100_000;

/** What an unknown thing that was thrown says: always text, and such that a ledger can keep it; very long ones are cut. */
export function errorText(error: unknown): string {
  try {
    const text = String(error instanceof Error ? error.message : error);
    return (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text).toWellFormed();
  } catch {
    // A getter, a `toString` or a proxy of somebody else's that throws.
    return UNREADABLE;
  }
}
