import type { Finding, FindingCode } from "../crash/checker.ts";
import type { Notice } from "../crash/lives.ts";
import type { World } from "./failover-cluster.ts";

/** What nobody asked to be synced may be lost with the memory of the server that is killed. */
const UNSYNCED: readonly FindingCode[] = ["lost-record", "lost-answer"];
/** Beats may be lost with a server that had no synchronous standby. */
const BEHIND: readonly FindingCode[] = [...UNSYNCED, "early-takeover"];

// What may be repeated, and needs nobody's approval any more, is done again.
const REPEATABLE = / \((look|lookup|hand|idempotent)\), attempt \d+ ran/;
const SESSION_GONE = /ran, and the ledger says nothing$/;
// Its run was stopped: another part of it ran, and the ledger has lost that.
const RUN_STOPPED = /the run was stopped before the other agent started/;

/** May this be, in this world, given what the operators were told? */
export function isTolerated(world: World, finding: Finding, notices: readonly Notice[]): boolean {
  const { code, message } = finding;
  if ((code === "unclaimed-run" || code === "unaccounted-run") && REPEATABLE.test(message)) return true;
  if (world.standby?.synchronous !== false) return UNSYNCED.includes(code);
  if (code === "phantom-result" && RUN_STOPPED.test(message)) return true;
  return BEHIND.includes(code) || isLossOwnedUpTo(finding, notices);
}

/**
 * A standby that is behind lacks claims and decisions that were acknowledged. Whoever made them lives, and so has said
 * of each: the call is unknown, or it is gone; the decision's session has lost commits.
 */
function isLossOwnedUpTo({ code, message, about = "" }: Finding, notices: readonly Notice[]): boolean {
  switch (code) {
    case "unclaimed-run":
    case "unapproved-run":
      // RestoreReport by its late end, where that came before the assertion: then the commit is told of.
      return tellsOf(notices, "lost-claim", { call: about }) || tellsOfCommit(notices, about);
    case "unaccounted-run":
      return SESSION_GONE.test(message) && tellsOf(notices, "lost-claim", { call: about });
    case "lost-decision":
      return tellsOf(notices, "lost-commits", { session: about });
    default:
      return false;
  }
}

/** Of what operators should have heard and did not: each promotion, and each session that lost records. */
export function untold(
  { standby }: World,
  { found, notices, rounds }: { found: readonly Finding[]; notices: readonly Notice[]; rounds: number },
): readonly string[] {
  const promotions = notices.filter(({ kind }) => kind === "new-history").length;
  const lost = new Set(
    found.flatMap(({ code, about }) => (code === "lost-record" && about !== undefined ? [about] : [])),
  );
  const silent = [...lost].filter((session) => !tellsOf(notices, "lost-commits", { session }));
  const sessions = silent.map((session) => `what ${session} lost`);
  return standby === undefined || promotions >= rounds ? sessions : ["a promotion", ...sessions];
}

function tellsOfCommit(notices: readonly Notice[], call: string): boolean {
  return notices.some(({ kind, details: { calls } }) => {
    return kind === "lost-commits" && Array.isArray(calls) && calls.includes(call);
  });
}

function tellsOf(
  notices: readonly Notice[],
  kind: string,
  about: { readonly [name: string]: string },
): boolean {
  return notices.some(
    (notice) =>
      notice.kind === kind && Object.entries(about).every(([name, value]) => notice.details[name] === value),
  );
}
