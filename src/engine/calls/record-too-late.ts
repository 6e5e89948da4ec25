import { toResponse } from "../frames/index.ts";
import type { LateEnd } from "../journal/index.ts";
import { type CallRecord, type CallStatus, Draft, type Plan, type Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Ended } from "./executions.ts";
import { writeUnknown } from "./mark-unknown.ts";
import type { EntryOutcome } from "./record-entry.ts";

const HAS_RUN = "it ran, but the ledger lost the record of its start; check what it did before you continue";
const WAS_STARTED =
  "it started and may still be running, but the ledger lost the record of its start; check what it did before you continue";

/**
 * Does the ledger take for not begun what this attempt began, or for still in an earlier one? Then it has lost the claim;
 * or a person had it run again, and did not know that it had run. What may be repeated, and needs nobody any more, simply
 * runs again.
 */
export function isClaimLost(stored: CallRecord, began: Pick<CallRecord, "attempt">): boolean {
  const { status, attempt, repeatable } = stored;
  if (status === "ready") return !repeatable && attempt <= began.attempt;
  return EARLIER.has(status) && attempt < began.attempt;
}

/** From these an attempt can follow that was made already. */
const EARLIER: ReadonlySet<CallStatus> = new Set(["waiting", "suspended", "executing"]);

/** Makes `unknown` what is forgotten; with how it ended, where that is known, for whoever settles it. */
export function markClaimLost(
  parts: EngineParts,
  held: Snapshot & { readonly call: CallRecord },
  { attempt, outcome }: { readonly attempt: number; readonly outcome?: EntryOutcome },
): Plan<Ended> {
  // Undone by a crash, it would be offered again.
  const draft = new Draft(parts, held.now, held.session).sync();
  const call = writeUnknown(draft, held, {
    reason: outcome === undefined ? WAS_STARTED : HAS_RUN,
    attempt,
    more: { standing: held.call.status, ...(outcome === undefined ? {} : endOf(outcome)) },
  });
  return { draft, value: { call } };
}

/** How an entry ended, as the journal keeps it. */
export function endOf(outcome: EntryOutcome): LateEnd {
  switch (outcome.kind) {
    case "succeeded":
      return { outcome: "succeeded", result: toResponse(outcome.result) };
    case "failed":
      return { outcome: "failed", result: outcome.error };
    default:
      return { outcome: outcome.kind };
  }
}
