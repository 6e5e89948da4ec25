import type { Confirmation } from "../../engine/index.ts";
import { displayText } from "../../protocol/index.ts";
import type { Notice } from "../channel.ts";
import { hintOf } from "../subject.ts";
import { voterWords } from "../voter-words.ts";

const MOST_HINT = 600;
const MOST_NAME = 100;

/** What a room is told: that something waits or what became of it, not the arguments. */
export interface Summary {
  /** Our own words. */
  readonly title: string;
  /** A stranger's words, each on a line of its own: plain text, to be shown as data. */
  readonly lines: readonly string[];
  readonly link?: string;
  readonly isOpen: boolean;
  readonly isUnknown: boolean;
  /** The same for all notices about one thing. */
  readonly subject: string;
}

const TITLES: Readonly<Record<Confirmation["status"], string>> = {
  requested: "A call waits for a decision",
  approved: "A call was approved",
  executing: "A call was approved and is running",
  succeeded: "An approved call succeeded",
  failed: "An approved call failed",
  unknown: "The outcome of a call is unknown",
  denied: "A call was denied",
  expired: "A call expired before it was decided",
  cancelled: "A question was withdrawn",
};

export function summaryOf({ about, link }: Pick<Notice, "about" | "link">): Summary {
  const id = "id" in about ? about.id : `${about.app}/${about.user}/${about.session}/${about.callId}`;
  const hint = line(hintOf(about), MOST_HINT);
  const by =
    "decision" in about && about.decision !== undefined
      ? [`Decided by: ${line(voterWords(about.decision), 2 * MOST_NAME)}`]
      : [];
  return {
    title: "id" in about ? TITLES[about.status] : `The outcome of a call is ${line(about.status)}`,
    lines: [
      `Tool: ${line(about.tool)}`,
      ...(hint === "" ? [] : [hint]),
      `Agent: ${line(about.agent)}`,
      `Asked by: ${line(about.user)}`,
      ...by,
    ],
    ...(link !== undefined && /^https?:\/\//.test(link) ? { link } : {}),
    isOpen: about.status === "requested",
    isUnknown: about.status === "unknown",
    subject: id,
  };
}

function line(text: string, maxLength = MOST_NAME): string {
  return displayText(text, { newlines: "show", maxLength });
}
