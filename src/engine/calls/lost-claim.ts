import { toResponse } from "../frames/index.ts";
import type { LateEnd } from "../journal/index.ts";
import { type CallRecord, type CallStatus, Draft, type Plan, type Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { writeUnknown } from "../questions/index.ts";
import type { Ended } from "./executions.ts";
import type { EntryOutcome } from "./record-entry.ts";

const HAS_RUN = "it ran, but the ledger lost the record of its start; check what it did before you continue";
const WAS_STARTED =
  "it started and may still be running, but the ledger lost the record of its start; check what it did before you continue";

/**
 * Does the ledger show a call as not started, or at an earlier attempt, although this attempt started it? Then the
 * ledger lost the claim, or a person chose to run it again without knowing that it had run. A repeatable call that
 * needs no approval any more simply runs again.
 */
export function isClaimLost(stored: CallRecord, began: Pick<CallRecord, "attempt">): boolean {
  const { status, attempt, repeatable } = stored;
  if (status === "ready") return !repeatable && attempt <= began.attempt;
  return EARLIER.has(status) && attempt < began.attempt;
}

/** From these states, the next attempt could be one that was already made. */
const EARLIER: ReadonlySet<CallStatus> = new Set(["waiting", "suspended", "executing"]);

/**
 * Makes a call `unknown` whose claim was lost, and records how it ended, if that is known, for the person who settles
 * it.
 */
export function markClaimLost(
  parts: EngineParts,
  held: Snapshot & { readonly call: CallRecord },
  { attempt, outcome }: { readonly attempt: number; readonly outcome?: EntryOutcome },
): Plan<Ended> {
  // If a crash undid this, the call would be offered again.
  const draft = new Draft(parts, held.now, held.session).sync();
  const call = writeUnknown(draft, held, {
    reason: outcome === undefined ? WAS_STARTED : HAS_RUN,
    attempt,
    more: { statusThen: held.call.status, ...(outcome === undefined ? {} : endOf(outcome)) },
  });
  return { draft, value: { call } };
}

/** How a run ended, in the journal's form. */
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
