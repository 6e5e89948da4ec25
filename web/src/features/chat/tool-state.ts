import type { Confirmation } from "../../api/types.ts";
import { type StatusWord, statusWord } from "../confirmation/status-words.ts";
import type { ToolItem } from "./talk.ts";

/** The state of a tool call: from its confirmation if it has one, else from its answer. */
export function toolState(
  { result, importedBy }: ToolItem,
  confirmation: Confirmation | undefined,
  isWorking: boolean,
): StatusWord {
  if (importedBy !== undefined) return { word: "Imported, not run here", tone: "plain" };
  if (confirmation !== undefined) return statusWord(confirmation.status);
  if (result === undefined)
    return isWorking ? { word: "Executing", tone: "busy" } : { word: "Requested", tone: "waiting" };
  return "error" in result ? { word: "Failed", tone: "warn" } : { word: "Succeeded", tone: "plain" };
}
