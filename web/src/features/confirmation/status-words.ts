import type { Confirmation, Status } from "../../api/types.ts";

export interface StatusWord {
  readonly word: string;
  readonly tone: "waiting" | "yes" | "no" | "warn" | "busy" | "plain";
}

/** The words of the API and the command line, with a capital letter. */
const WORDS: Readonly<Record<Status, StatusWord>> = {
  requested: { word: "Requested", tone: "waiting" },
  approved: { word: "Approved", tone: "yes" },
  executing: { word: "Executing", tone: "busy" },
  succeeded: { word: "Succeeded", tone: "yes" },
  failed: { word: "Failed", tone: "warn" },
  unknown: { word: "Unknown", tone: "warn" },
  denied: { word: "Denied", tone: "no" },
  expired: { word: "Expired", tone: "plain" },
  cancelled: { word: "Cancelled", tone: "plain" },
};

export function statusWord(status: Status): StatusWord {
  return WORDS[status];
}

/** Who decided it and how, in one sentence; for what nobody decided, why it ended. */
export function decisionSentence({
  status,
  decision,
  withdrawal,
  askedByTool,
}: Pick<Confirmation, "status" | "decision" | "withdrawal" | "askedByTool">): string | undefined {
  if (decision !== undefined) {
    const { by, confirmed, via, args, for: delegator } = decision;
    const known = by.authenticated ? "" : ", unauthenticated";
    const whom = delegator ?? by.onBehalfOf;
    const forWhom = whom === undefined ? "" : ` for ${whom}`;
    const changed = args === undefined ? "" : ", with changed arguments";
    return `${confirmed ? "Approved" : "Denied"} by ${by.id}${forWhom} (${via}${known})${changed}.`;
  }
  // A call that asked while it ran had started. One may be cancelled because it was found to have run.
  const ran = askedByTool === true ? " It had started, and did not finish." : "";
  if (status === "expired") return `Nobody decided in time.${ran || " It did not run."}`;
  if (status === "cancelled") return `Cancelled${withdrawal === undefined ? "" : `: ${withdrawal}`}.${ran}`;
  return undefined;
}

const SETTLED = {
  succeeded: "it happened",
  failed: "it did not happen, or only in part",
  retry: "it did not happen; it was run again",
} as const;

/** Who said what had become of a call whose outcome was unknown. */
export function settlementSentence(settlement: NonNullable<Confirmation["settlement"]>): string {
  const { as, happened, refunded, by, via } = settlement;
  const what = happened === false ? "it did not happen" : SETTLED[as];
  const back = refunded === true ? " Its use was given back to the grant." : "";
  return `Settled by ${by.id} (${via}${by.authenticated ? "" : ", unauthenticated"}): ${what}.${back}`;
}
