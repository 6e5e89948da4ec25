import type { Claimed } from "../calls/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Draft } from "./draft.ts";
import type { Snapshot } from "./ledger.ts";
import type { FrameRecord } from "./records.ts";

// On the record itself, where it lives as long, and hidden, so that no copy of it inherits the mark: a copy may
// have been changed. A WeakMap would say the same and cost every cycle a tenth of its time in collections.
const MADE_IN: unique symbol = Symbol("made in");

/** A record that a command of this process made, and that the next command begins with. */
type Made = (FrameRecord | Claimed) & { readonly [MADE_IN]?: Draft };

/** Marks the record as made by this draft. The mark means something once the draft is committed. */
export function madeIn<T extends FrameRecord | Claimed>(draft: Draft, record: T): T {
  return Object.defineProperty(record, MADE_IN, { value: draft });
}

/** The draft that made this very record, if it was made here. */
export function draftOf(record: Made): Draft | undefined {
  return record[MADE_IN];
}

/**
 * How the session stood when this record was committed: what a command may try first instead of reading it
 * again. If anything has moved since, the version that it names is refused.
 */
export function standingOf(
  { clock }: EngineParts,
  record: Made,
): Pick<Snapshot, "now" | "session"> | undefined {
  const draft = record[MADE_IN];
  if (draft === undefined) return undefined;
  // The ledger's clock is not ours to read; what has passed since it was read is. Not by the clock that only goes
  // forward: it stands still while a machine sleeps.
  const passed = Math.max(0, clock.now() - draft.madeAt);
  return { now: draft.now + passed, session: draft.sessionAfter };
}
