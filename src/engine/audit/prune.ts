import { pagesOf } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { pruneSession } from "../sessions/index.ts";

const BATCH = 100;

/** Told of while sessions are pruned. */
export interface PruneListener {
  /** After each batch, how many were erased. */
  readonly onPruned?: (count: number) => void;
  /** Called for each session that a legal hold keeps, and why. */
  readonly onHeld?: (session: string, why: string) => void;
}

/** Erases sessions that have been idle for this long, except those that a legal hold keeps. */
export async function prune(
  parts: EngineParts,
  olderThanMs: number,
  { onPruned, onHeld }: PruneListener = {},
): Promise<number> {
  const idleSince = parts.ledger.now - olderThanMs;
  let count = 0;
  for await (const items of pagesOf((page) => parts.ledger.sessions({ idleSince }, page), BATCH)) {
    for (const { key } of items) {
      const pruned = await pruneSession(parts, key, { olderThanMs });
      if (pruned.ok) count += 1;
      else if (pruned.code === "under-hold") onHeld?.(key, pruned.message);
    }
    onPruned?.(count);
  }
  await parts.ledger.tidy();
  return count;
}
