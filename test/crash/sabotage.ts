import type { Commit, CommitOutcome, Ledger, Write } from "../../src/engine/index.ts";
import { wrapLedger } from "../support/ledger/ledger-proxy.ts";
import type { LedgerPlace } from "../support/ledger/open-view.ts";
import { pointsOf } from "./points.ts";

/** Ways in which an engine could be broken. Each must be noticed by the checker. */
export type Sabotage =
  /** Nothing is broken, but decisions of two processes meet: the control of `claim-removed`. */
  | "none-but-meet"
  /** A claim that somebody else won is taken for one's own. */
  | "claim-removed"
  /** The approval is acknowledged, and written only once the call has run. */
  | "approval-after-run"
  /** Whoever lets go of a session does not look for what became ready meanwhile, and no sweep does. */
  | "blind-release"
  /** A result is acknowledged and not written. */
  | "result-dropped"
  /** A call whose outcome is unknown is run again. */
  | "unknown-retried"
  /** On PostgreSQL: whoever looks for work takes everybody's lease first, whether it has run out or not. */
  | "leases-taken";

export interface SabotageParts {
  readonly inner: Ledger;
  /** Where the ledger is. */
  readonly place: LedgerPlace;
  /** Resolves when the test has seen every process arrive here. */
  readonly meet: (confirmation: string) => Promise<void>;
}

const ran = async (): Promise<void> => {};

/** A ledger that lies to its engine in one way. `ran` is called when a tool has run. */
export function sabotaged(
  sabotage: Sabotage | undefined,
  { inner, place, meet }: SabotageParts,
): { readonly ledger: Ledger; readonly ran: () => Promise<void> } {
  switch (sabotage) {
    case undefined:
      return { ledger: inner, ran };
    case "none-but-meet":
      return { ledger: wrapLedger(inner, { commit: meeting(inner, { meet, lie: false }) }), ran };
    case "claim-removed":
      return { ledger: wrapLedger(inner, { commit: meeting(inner, { meet, lie: true }) }), ran };
    case "approval-after-run":
      return holdApprovals(inner);
    case "blind-release":
      return { ledger: blind(inner), ran };
    case "result-dropped":
      return { ledger: wrapLedger(inner, { commit: dropResults(inner) }), ran };
    case "unknown-retried":
      return { ledger: wrapLedger(inner, { commit: (commit) => inner.commit(retryUnknown(commit)) }), ran };
    case "leases-taken":
      return { ledger: wrapLedger(inner, { due: takeLeases(inner, place) }), ran };
  }
}

function meeting(
  inner: Ledger,
  { meet, lie }: { readonly meet: SabotageParts["meet"]; readonly lie: boolean },
): Ledger["commit"] {
  return async (commit) => {
    const points = pointsOf(commit);
    if (!points.has("approve") && !points.has("deny")) return inner.commit(commit);
    await meet(decidedIn(commit) ?? "");
    const outcome = await inner.commit(commit);
    return lie ? { ok: true } : outcome;
  };
}

function holdApprovals(inner: Ledger): { readonly ledger: Ledger; readonly ran: () => Promise<void> } {
  const held: Commit[] = [];
  const hold = async (commit: Commit): Promise<CommitOutcome> => {
    if (!pointsOf(commit).has("approve")) return inner.commit(commit);
    held.push(commit);
    return { ok: true };
  };
  const write = async (): Promise<void> => {
    const late = held.shift();
    if (late !== undefined) await inner.commit(late);
  };
  return { ledger: wrapLedger(inner, { commit: hold }), ran: write };
}

function blind(inner: Ledger): Ledger {
  return wrapLedger(inner, {
    async liveFrames(session) {
      return (await inner.liveFrames(session)).filter(({ status }) => status !== "ready");
    },
    async due(apps, limit) {
      return { ...(await inner.due(apps, limit)), readyFrames: [] };
    },
  });
}

function dropResults(inner: Ledger): Ledger["commit"] {
  return async (commit) => (pointsOf(commit).has("result") ? { ok: true } : inner.commit(commit));
}

function retryUnknown(commit: Commit): Commit {
  if (!pointsOf(commit).has("lose")) return commit;
  const writes = commit.writes.map(
    (write): Write =>
      write.kind === "call-update" && write.set.status === "unknown"
        ? { ...write, set: { ...write.set, status: "ready", owner: null } }
        : write,
  );
  return { ...commit, writes };
}

function takeLeases(inner: Ledger, place: LedgerPlace): Ledger["due"] {
  return async (hosted, limit) => {
    // Not needed by all the others, who start often.
    const { execute } = await import("../support/postgres/server.ts");
    await execute(place, "update countersign.owners set fenced = 1");
    return inner.due(hosted, limit);
  };
}

function decidedIn({ writes }: Commit): string | undefined {
  return writes.find(
    (write): write is Extract<Write, { kind: "confirmation-update" }> => write.kind === "confirmation-update",
  )?.id;
}
