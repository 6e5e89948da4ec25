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

/** Is it a reminder or an escalation of a question that is over by now? Then nobody is to be reminded. */
export function comesTooLate({ about, type }: Pick<Notice, "about" | "type">): boolean {
  const isAgain = type === "confirmation.reminded" || type === "confirmation.escalated";
  return isAgain && about.status !== "requested";
}
