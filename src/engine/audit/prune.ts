import type { EngineParts } from "../parts.ts";
import { pruneSession } from "../sessions/index.ts";

const BATCH = 100;

/** Erases sessions that have been idle for so long; tells after each batch how many it were. */
export async function prune(
  parts: EngineParts,
  olderThanMs: number,
  onPruned: (count: number) => void = () => {},
): Promise<number> {
  const before = parts.ledger.now - olderThanMs;
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    const request = { limit: BATCH, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await parts.ledger.idleSessions(before, request);
    for (const key of items) if (await pruneSession(parts, key, before)) count += 1;
    onPruned(count);
    if (next === undefined) break;
    cursor = next;
  }
  await parts.ledger.tidy();
  return count;
}
