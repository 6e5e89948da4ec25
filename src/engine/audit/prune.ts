import type { EngineParts } from "../parts.ts";
import { pruneSession } from "../sessions/index.ts";

const BATCH = 100;

/** Told of while sessions are pruned. */
export interface PruneListener {
  /** After each batch, how many were erased. */
  readonly onPruned?: (count: number) => void;
  /** Of each session that a legal hold keeps, and why. */
  readonly onHeld?: (session: string, why: string) => void;
}

/** Erases sessions that have been idle for so long, but for those that a legal hold keeps. */
export async function prune(
  parts: EngineParts,
  olderThanMs: number,
  { onPruned, onHeld }: PruneListener = {},
): Promise<number> {
  const idleSince = parts.ledger.now - olderThanMs;
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    const request = { limit: BATCH, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await parts.ledger.sessions({ idleSince }, request);
    for (const { key } of items) {
      const pruned = await pruneSession(parts, key, { olderThanMs });
      if (pruned.ok) count += 1;
      else if (pruned.code === "under-hold") onHeld?.(key, pruned.message);
    }
    onPruned?.(count);
    if (next === undefined) break;
    cursor = next;
  }
  await parts.ledger.tidy();
  return count;
}
