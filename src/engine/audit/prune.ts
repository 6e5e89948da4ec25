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
  for (let count = 0; ; ) {
    const keys = await parts.ledger.idleSessions(before, BATCH);
    let pruned = 0;
    for (const key of keys) if (await pruneSession(parts, key, before)) pruned += 1;
    count += pruned;
    onPruned(count);
    // Sessions that became busy since they were listed would be listed for ever.
    if (keys.length < BATCH || pruned === 0) {
      await parts.ledger.tidy();
      return count;
    }
  }
}
