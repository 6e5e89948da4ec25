import type { Claimed } from "./claim.ts";
import type { Draft } from "./draft.ts";
import type { Snapshot } from "./ledger.ts";
import type { EngineParts } from "./parts.ts";
import type { FrameRecord } from "./records.ts";

/** A record that a command of this process made, and that the next command begins with. */
type Record = FrameRecord | Claimed;

// As long as the record itself, so nothing that merely waits is remembered.
const madeBy = new WeakMap<Record, Draft>();

/** Remembers which draft made this record. Asked only of records whose draft was committed. */
export function madeIn<T extends Record>(draft: Draft, record: T): T {
  madeBy.set(record, draft);
  return record;
}

/** The draft that made this very record, if it was made here. */
export function draftOf(record: Record): Draft | undefined {
  return madeBy.get(record);
}

/**
 * How the session stood when this record was committed: what a command may try first instead of reading it
 * again. If anything has moved since, the version that it names is refused.
 */
export function standingOf(
  { clock }: EngineParts,
  record: Record,
): Pick<Snapshot, "now" | "session"> | undefined {
  const draft = madeBy.get(record);
  if (draft === undefined) return undefined;
  // The ledger's clock is not ours to read; what has passed since it was read is.
  const passed = Math.max(0, Math.floor(clock.monotonic() - draft.madeAt));
  return { now: draft.now + passed, session: draft.sessionAfter };
}
