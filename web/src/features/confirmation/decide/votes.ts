import type { Confirmation } from "../../../api/types.ts";

type Voted = Pick<Confirmation, "requirements" | "denials" | "votes">;

/** How many approvals are still missing. */
export function approvalsMissing({ requirements }: Voted): number {
  return requirements.reduce((sum, { count, approved }) => sum + Math.max(0, count - approved), 0);
}

/** How many rejections are still missing until it is denied. */
export function denialsMissing({ denials, votes }: Voted): number {
  return Math.max(1, denials - votes.filter(({ confirmed }) => !confirmed).length);
}

/** "1 more approval is", "2 more approvals are". */
export function more(count: number, what: string): string {
  return count === 1 ? `1 more ${what} is` : `${count} more ${what}s are`;
}
