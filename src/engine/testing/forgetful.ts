import type { Commit } from "../ledger/commit.ts";
import type { WatchedLedger } from "./execution.ts";

/** The next commit that this is said of is acknowledged, and then gone: the database lost it before it was safe. */
export function loseCommit(watched: WatchedLedger, isLost: (commit: Commit) => boolean): void {
  watched.intercept("commit", (pass, [commit]) => {
    if (!isLost(commit as Commit)) return pass();
    watched.lift("commit");
    return Promise.resolve({ ok: true });
  });
}

/** Does a commit move a call or a frame to one of these? */
export function setsStatus(kind: "call-update" | "frame-update", ...statuses: readonly string[]) {
  return ({ writes }: Commit): boolean =>
    writes.some((write) => write.kind === kind && statuses.includes(write.set.status ?? ""));
}
