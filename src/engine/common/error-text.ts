const UNREADABLE = "unreadable error";
const LONGEST = 100_000;

/** The message of anything that was thrown: always text that a ledger can store; very long texts are truncated. */
export function errorText(error: unknown): string {
  try {
    const text = String(error instanceof Error ? error.message : error);
    return (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text).toWellFormed();
  } catch {
    // A getter, a `toString` or a proxy that throws.
    return UNREADABLE;
  }
}
