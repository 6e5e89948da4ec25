import type { Confirmation } from "../../api/types.ts";
import type { StatusWord } from "../confirmation/status-words.ts";
import type { ToolItem } from "./talk.ts";

const OF_CONFIRMATION: Readonly<Record<Confirmation["status"], StatusWord>> = {
  requested: { word: "Pending approval", tone: "waiting" },
  approved: { word: "Approved", tone: "yes" },
  executing: { word: "Executing", tone: "busy" },
  succeeded: { word: "Approved, completed", tone: "yes" },
  failed: { word: "Approved, failed", tone: "doubt" },
  unknown: { word: "Outcome unknown", tone: "doubt" },
  denied: { word: "Rejected", tone: "no" },
  expired: { word: "Expired", tone: "plain" },
  cancelled: { word: "Withdrawn", tone: "plain" },
};

/** The state of a tool call: from its confirmation if it has one, else from its answer. */
export function toolState(
  { result, importedBy }: ToolItem,
  confirmation: Confirmation | undefined,
  isWorking: boolean,
): StatusWord {
  if (importedBy !== undefined) return { word: "Imported, not run here", tone: "plain" };
  if (confirmation !== undefined) return OF_CONFIRMATION[confirmation.status];
  if (result === undefined)
    return isWorking ? { word: "Executing", tone: "busy" } : { word: "Requested", tone: "waiting" };
  return "error" in result ? { word: "Failed", tone: "doubt" } : { word: "Completed", tone: "plain" };
}
