import type { ConfirmationVote } from "../engine/index.ts";

/** Who voted, and for whom if somebody delegated their votes to them. */
export function voterWords({ by, for: delegator }: Pick<ConfirmationVote, "by" | "for">): string {
  return delegator === undefined ? by.id : `${by.id} for ${delegator}`;
}
