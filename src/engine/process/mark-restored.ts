import type { Decider } from "../decisions/index.ts";
import { revokeAllDelegations } from "../delegations/index.ts";
import { revokeAll } from "../grants/index.ts";
import type { ActedBy } from "../journal/index.ts";
import { type CallRecord, type ConfirmationRecord, Draft, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { subjectOf, writeUnknown } from "../questions/index.ts";

const BATCH = 100;
const AT_ONCE = 8;

const MAY_HAVE_RUN = "the ledger was restored from a backup; the call may have run after the backup was made";
const MAY_BE_DECIDED =
  "restored from a backup: this may have been decided after the backup was made, and the call may have run; check before you approve it again";

const MAY_BE_USED_UP = "the ledger was restored from a backup; the grant may have been used after the backup";

/** What was open in a restored ledger. */
export interface RestoreReport {
  readonly sessions: number;
  /** Approved calls that had not started, and are now `unknown`. */
  readonly calls: number;
  /** Open questions that may have been answered after the backup; their cards say so. */
  readonly waiting: number;
  /** Grants that were revoked: what they let run after the backup is not counted in it. */
  readonly grants: number;
}

/**
 * Handles a ledger that was restored from a backup. A call that was approved and not started would run now, but it may
 * have run after the backup. Such a call becomes `unknown`, and a person settles it. An open question may have been
 * answered: its card says so. A grant may have been used up, so all are revoked, and so are all delegations. Repeatable calls are not changed. Call this before any process hosts apps on the ledger.
 * It can be repeated, also after a crash: it does what is left.
 */
export async function markRestored(
  parts: EngineParts,
  decider: Decider,
  onProgress: (report: RestoreReport) => void = () => {},
): Promise<RestoreReport> {
  await revokeAllDelegations(parts, decider);
  const grants = await revokeAll(parts, told(MAY_BE_USED_UP, decider));
  const total = { sessions: 0, calls: 0, waiting: 0, grants };
  for (let after = ""; ; ) {
    const streams = await parts.ledger.journal.streams(after, BATCH);
    const keys = streams.map(({ key }) => key);
    const [last] = keys.slice(-1);
    if (last === undefined) return total;
    // Most sessions have nothing open, so they are checked in parallel.
    while (keys.length > 0) {
      const looks = keys.splice(0, AT_ONCE).map((key) => markSession(parts, key, decider));
      for (const { calls, waiting } of await Promise.all(looks)) {
        total.sessions += 1;
        total.calls += calls;
        total.waiting += waiting;
      }
    }
    onProgress(total);
    after = last;
  }
}

async function markSession(
  parts: EngineParts,
  session: string,
  decider: Decider,
): Promise<Pick<RestoreReport, "calls" | "waiting">> {
  const counts = { calls: 0, waiting: 0 };
  for (const { id, repeatable } of await parts.ledger.unanswered(session)) {
    const marked = repeatable ? undefined : await markCall(parts, id, decider);
    if (marked !== undefined) counts[marked] += 1;
  }
  return counts;
}

async function markCall(
  parts: EngineParts,
  callId: string,
  decider: Decider,
): Promise<"calls" | "waiting" | undefined> {
  return transact<"calls" | "waiting" | undefined>(parts, { call: callId }, (snapshot) => {
    const { call, confirmation } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) return { value: undefined };
    const draft = new Draft(parts, snapshot.now, snapshot.session).sync();
    if (call.status === "ready") {
      const { reason, ...more } = told(MAY_HAVE_RUN, decider);
      writeUnknown(draft, { call }, { reason, attempt: call.attempt, more });
      return { draft, value: "calls" };
    }
    if (confirmation?.status !== "requested") return { value: undefined };
    if (confirmation.shown.why.includes(MAY_BE_DECIDED)) return { value: "waiting" };
    return { draft: warnQuestion(draft, { call, confirmation }, decider), value: "waiting" };
  });
}

function warnQuestion(
  draft: Draft,
  { call, confirmation }: { readonly call: CallRecord; readonly confirmation: ConfirmationRecord },
  decider: Decider,
): Draft {
  const { shown, shownVersion, votes } = confirmation;
  draft.changeConfirmation(confirmation, {
    shown: { ...shown, why: [...shown.why, MAY_BE_DECIDED] },
    // A decision on the version from before the restore is refused.
    shownVersion: shownVersion + 1,
    // Whoever voted before it did not know either that the call may have run.
    votes: [],
  });
  const ended = votes.map(({ by }) => by.id);
  return draft.journal("confirmation-restored", {
    ...subjectOf(confirmation, call),
    ...told(MAY_BE_DECIDED, decider),
    ...(ended.length === 0 ? {} : { ended }),
  });
}

function told(reason: string, { by, via }: Decider): ActedBy & { readonly reason: string } {
  const { id, kind, authenticated } = by;
  return { reason, by: { id, kind, authenticated }, via };
}
