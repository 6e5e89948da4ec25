/**
 * One process and its ledger: lease, worker, recovery, and how to repair after the ledger lost data. Decided here: when
 * this process may claim (its lease is valid and the ledger's history is confirmed); which work of dead processes is
 * taken over, and which becomes `unknown`; what this process does when the ledger lost commits that it had
 * acknowledged; and how people are notified about that (notices).
 */

export { AcknowledgedCommits } from "./acknowledged-commits.ts";
export { Lease } from "./lease.ts";
export { markRestored, type RestoreReport } from "./mark-restored.ts";
export { type LedgerNotice, NOTICE_KINDS } from "./notice.ts";
export { acknowledgeNotice, listNotices, NoticeWriter, openNotices, type StoredNotice } from "./notices.ts";
export { Reconciler } from "./reconcile.ts";
export { recoverCall } from "./recover.ts";
export { Unstored } from "./unstored.ts";
export { Worker, type WorkOptions } from "./worker.ts";
