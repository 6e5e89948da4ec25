const SECONDS = /^\d{1,9}$/;

/** How long a `Retry-After` header asks to wait, in milliseconds; undefined if there is none, or it cannot be read. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  if (SECONDS.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(at - now, 0);
}
