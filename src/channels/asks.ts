import type { Notice, NoticeType } from "./channel.ts";

/** Notices that ask for a decision. */
export const ASKING: ReadonlySet<NoticeType> = new Set([
  "confirmation.requested",
  "confirmation.reminded",
  "confirmation.escalated",
]);

/** Does the notice ask for a decision that is still open? */
export function asks({ about, type }: Pick<Notice, "about" | "type">): boolean {
  return ASKING.has(type) && "id" in about && about.status === "requested";
}
