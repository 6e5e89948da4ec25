import { useMemo } from "react";

/** A key that makes a request and its repetitions one. `randomUUID` is missing where the page came without TLS. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A key that stays the same while the content stays the same. */
export function useKeyFor(content: string): string {
  return useMemo(() => `${content.length}-${newKey()}`, [content]);
}
