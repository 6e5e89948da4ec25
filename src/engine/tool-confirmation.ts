import type { ToolConfirmation } from "../protocol/index.ts";
import type { CallRecord, ConfirmationRecord } from "./records.ts";

/**
 * The decision that a body is shown: the last one, unless that answers a named question, which gives it to
 * the body itself. What let the call start before such a question then still stands.
 */
export function toolConfirmationOf(
  { refused }: Pick<CallRecord, "refused">,
  confirmation: ConfirmationRecord | undefined,
): ToolConfirmation | undefined {
  if (confirmation === undefined) return undefined;
  const { hint, question, startedWith } = confirmation.shown;
  if (question !== undefined) return startedWith;
  if (refused) return { hint, confirmed: false };
  const vote = confirmation.votes.at(-1);
  if (vote === undefined) return undefined;
  const { confirmed, payload } = vote;
  return { hint, confirmed, ...(payload === undefined ? {} : { payload }) };
}
