import type { Confirmation } from "../engine/index.ts";

const STARTED = "The call had started, and did not finish.";

/**
 * Whether a refused call ran: one that asked while it ran had started. For a withdrawn call only its reason says so, which may be
 * that the call was found to have run.
 */
export function refusedWords({
  status,
  askedByTool,
}: Pick<Confirmation, "status" | "askedByTool">): readonly string[] {
  if (status !== "denied" && status !== "expired" && status !== "cancelled") return [];
  if (askedByTool === true) return [STARTED];
  return status === "cancelled" ? [] : ["The call did not run."];
}
