const UNREADABLE = "something was thrown that cannot be read";

/** What an unknown thing that was thrown says: always text, and such that a ledger can keep it. */
export function errorText(error: unknown): string {
  try {
    const text: unknown = error instanceof Error ? error.message : String(error);
    return String(text).toWellFormed();
  } catch {
    // A getter, a `toString` or a proxy of somebody else's that throws.
    return UNREADABLE;
  }
}
