import type { Confirmation } from "../engine/index.ts";
import { refusedWords } from "./refused-words.ts";

const CLOSED_WORDS: Readonly<Record<Exclude<Confirmation["status"], "requested">, string>> = {
  approved: "Approved. The call has not started yet.",
  executing: "Approved. The call is running.",
  succeeded: "Approved. The call succeeded.",
  failed: "Approved. The call failed.",
  unknown: "Approved. The outcome of the call is unknown: somebody must find out and settle it in the inbox.",
  denied: "Denied.",
  expired: "Expired. Nobody decided in time.",
  cancelled: "Withdrawn.",
};

/** The status of a question, in words; `waiting` is what is said while it is open. */
export function statusWords(
  about: Pick<Confirmation, "status" | "askedByTool">,
  waiting = "Waiting for a decision",
): string {
  const words = about.status === "requested" ? waiting : CLOSED_WORDS[about.status];
  return [words, ...refusedWords(about)].join(" ");
}
