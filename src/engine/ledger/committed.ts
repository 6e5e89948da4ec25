import type { EngineParts } from "../parts.ts";
import type { Snapshot } from "./commit.ts";
import type { Draft } from "./draft.ts";

/** A record as a commit of this process left it. */
export interface Committed<T> {
  readonly record: T;
  /** What was committed. */
  readonly draft: Draft;
}

/**
 * The session as a commit of this process left it: what the next command may start from instead of reading it
 * again. If anything has moved since, the version that it names is refused.
 */
export function afterCommit(
  { clock }: EngineParts,
  draft: Draft | undefined,
): Pick<Snapshot, "now" | "session"> | undefined {
  if (draft === undefined) return undefined;
  // The ledger's clock is not ours to read; what has passed since it was read is. Not by the clock that only goes
  // forward: it stands still while a machine sleeps.
  const passed = Math.max(0, clock.now() - draft.madeAt);
  return { now: draft.now + passed, session: draft.sessionAfter };
}
