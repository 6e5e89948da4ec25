import type { Confirmation } from "../../../api/types.ts";
import { type Unseen, unseenSentence } from "../card/seen.tsx";
import { approvalsMissing, denialsMissing, more } from "./votes.ts";
import { whoMay } from "./who-may.ts";

export interface Readiness {
  readonly confirmation: Confirmation;
  /** What of the arguments was never looked at. */
  readonly unseen: Unseen;
  /** The content has been the same for half a second. */
  readonly settled: boolean;
  /** Who looks at it. */
  readonly me?: string | undefined;
  readonly now: number;
  readonly online: boolean;
  /** What keeps the form from being sent. */
  readonly fault?: string | undefined;
}

/** Why this person cannot decide at all, and who can. */
export function decideOff({ confirmation, me, now, online, settled }: Readiness): string | undefined {
  const { status, can, expiresAt } = confirmation;
  if (status !== "requested") return "It has been answered.";
  if (!can.decide) return voted(confirmation, me) ?? `Only ${whoMay(confirmation)} may decide this.`;
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) return "The deadline has passed.";
  if (!online) return "Not connected; what you see may be old.";
  return settled ? undefined : "This request is new here, or has just changed. Read it first.";
}

/** Why it cannot be approved now: besides the above, as long as anything of it is unseen or incomplete. */
export function approveOff(readiness: Readiness): string | undefined {
  const off = decideOff(readiness);
  if (off !== undefined) return off;
  if (readiness.confirmation.can.onlyDeny === true)
    return "Because of a delegation you count as one person with the requester, who may not approve this. You may reject it.";
  if (readiness.confirmation.truncated === true)
    return "This request is shortened here. Open its card to decide.";
  return unseenSentence(readiness.unseen) ?? readiness.fault;
}

/** That this person has voted, and what is still missing. */
function voted(confirmation: Confirmation, me: string | undefined): string | undefined {
  const vote = confirmation.votes.find(({ by }) => by.id === me);
  if (vote === undefined) return undefined;
  return vote.confirmed
    ? `You have approved it. ${more(approvalsMissing(confirmation), "approval")} needed.`
    : `You have rejected it. ${more(denialsMissing(confirmation), "rejection")} needed to deny it.`;
}
