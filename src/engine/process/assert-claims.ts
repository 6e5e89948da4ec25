import { type Executions, isClaimLost, type KnownClaim, markClaimLost } from "../calls/index.ts";
import { type CallRecord, transact } from "../ledger/index.ts";
import { isAnswered } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { cancelRun } from "../sessions/index.ts";
import type { Notify } from "./notice.ts";

/** What the ledger says about a claim that this process made. */
type ClaimState =
  /** As this process knows it, or further on. */
  | "known"
  /** The ledger shows it as executing. */
  | "held"
  /** The claim was lost; the call is `unknown` now. */
  | "marked-unknown"
  /** It ran here, and the ledger has something else. */
  | "contradicted"
  | "gone";

/**
 * Compares recent claims of this process with a ledger that may have lost them. A call that was started here and that
 * the ledger shows as not started becomes `unknown`. A lost end is recorded again. A run that has lost calls which ran
 * here is stopped, so that it does not make them again. What cannot be repaired is reported as a notice. Rejects if the
 * ledger could not be asked: then all of it must be repeated.
 */
export async function assertClaims(
  parts: EngineParts,
  executions: Executions,
  notify: Notify,
): Promise<void> {
  const gone: KnownClaim[] = [];
  const claims = executions.recentClaims().filter(({ outcome }) => !NOT_RUN.has(outcome?.kind));
  // The newest first: they are most likely lost, and others may claim them after one lease.
  for (const some of chunks(claims.toReversed())) {
    const stored = await parts.ledger.calls(some.map(({ claimed }) => claimed.call.id));
    const known = new Map(stored.map((call) => [call.id, call]));
    for (const claim of some) {
      const { id, attempt } = claim.claimed.call;
      const state = await assertClaim(parts, claim, known.get(id));
      if (state === "held" && claim.outcome !== undefined) executions.recordAgain(id, attempt);
      if (state === "known" || state === "held") continue;
      if (state === "gone") gone.push(claim);
      notify({ kind: "lost-claim", message: MESSAGES[state], details: detailsOf(claim) });
    }
  }
  await stopRuns(parts, gone);
}

/**
 * The model does not know of these calls: if it is asked again, it makes them again. Only repeatable calls may be made
 * again.
 */
async function stopRuns(parts: EngineParts, gone: readonly KnownClaim[]): Promise<void> {
  const once = gone.filter(({ claimed }) => !claimed.call.repeatable && claimed.frame !== undefined);
  const byRun = Map.groupBy(once, ({ claimed }) => `${claimed.session.key} ${claimed.frame?.invocation}`);
  for (const claims of byRun.values()) {
    const [{ claimed } = { claimed: undefined }] = claims;
    if (claimed?.frame === undefined) continue;
    const tools = [...new Set(claims.map((claim) => claim.claimed.call.tool))].join(", ");
    const reason = `The database server was replaced, and part of this run is missing. ${tools} ran in it: check what happened before you ask for it again.`;
    const { invocation } = claimed.frame;
    await cancelRun(parts, { session: claimed.session.key, invocation, reason, errorCode: "lost-commits" });
  }
}

const NOT_RUN: ReadonlySet<string | undefined> = new Set(["not-started", "lost"]);

// A call may be large.
const CHUNK = 50;

function chunks<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / CHUNK) }, (_, place) =>
    all.slice(place * CHUNK, (place + 1) * CHUNK),
  );
}

const MESSAGES = {
  "marked-unknown":
    "the ledger lost the record that a call started; the call is now unknown and a person must settle it",
  contradicted: "a call ran here, but the ledger says something else; check what it did",
  gone: "a call ran here, but the ledger no longer has it; check what it did",
} as const;

function detailsOf({ claimed, outcome }: KnownClaim): { readonly [name: string]: string | number } {
  const { id, tool, attempt, app, session } = claimed.call;
  return { call: id, tool, app, session, attempt, outcome: outcome?.kind ?? "running" };
}

async function assertClaim(
  parts: EngineParts,
  claim: KnownClaim,
  stored: CallRecord | undefined,
): Promise<ClaimState> {
  if (stored === undefined) return "gone";
  const { attempt } = claim.claimed.call;
  if (!isLost(stored, claim)) return claimStateOf(stored, { attempt, owner: claim.claimed.owner });
  const { outcome } = claim;
  return transact<ClaimState>(parts, { call: stored.id }, (snapshot) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) return { value: "gone" };
    if (!isLost(call, claim)) {
      return { value: claimStateOf(call, { attempt, owner: claim.claimed.owner }) };
    }
    const lost = outcome === undefined ? { attempt } : { attempt, outcome };
    return { ...markClaimLost(parts, { ...snapshot, call }, lost), value: "marked-unknown" };
  });
}

function isLost(call: CallRecord, { claimed, outcome }: KnownClaim): boolean {
  // A call that asked a question here and was approved since is ready at the same attempt.
  const goesOn = outcome?.kind === "asked" && call.attempt === claimed.call.attempt;
  return !goesOn && isClaimLost(call, claimed.call);
}

function claimStateOf(
  call: CallRecord,
  ours: { readonly attempt: number; readonly owner: string },
): ClaimState {
  const { status, attempt, owner } = call;
  if (attempt > ours.attempt) return "known";
  if (status === "executing" || status === "unknown") {
    if (attempt !== ours.attempt) return "contradicted";
    if (status === "unknown") return "known";
    return owner === ours.owner ? "held" : "contradicted";
  }
  return isAnswered(status) && attempt < ours.attempt ? "contradicted" : "known";
}
