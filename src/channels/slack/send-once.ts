import type { SentMessage } from "../../engine/index.ts";
import { BEING_SENT, type Failure } from "../failures.ts";
import { find, noteSent, openConversation, post, type SlackParts, type Telling } from "./messages.ts";

/** Whose account it is; nobody's if it is a room. */
export function personAt({ settings }: SlackParts, target: string): Pick<SentMessage, "person"> {
  const person = settings.people.find(({ slack }) => slack === target)?.id;
  return person === undefined ? {} : { person };
}

interface Sending {
  readonly target: string;
  readonly claim: { readonly next: "send" | "look"; readonly message: SentMessage };
  /** It may have been sent, but is no longer worth sending. */
  readonly isOver: boolean;
}

/** Sends a message that was claimed. Undefined: it was never sent, and need not be. */
export async function sendOnce(
  telling: Telling,
  { target, claim, isOver }: Sending,
): Promise<SentMessage | Failure | undefined> {
  const { book, subject } = telling;
  const claimed = claim.message;
  if (claim.next === "look" && claimed.place !== undefined) {
    const { place } = claimed;
    const found = await find(telling, { target, place, since: sinceOf(claimed) });
    if (!found.ok) {
      await book.note(subject, target, { claimed, as: { ...claimed, state: "unsure" } });
      return found;
    }
    if (found.ts !== undefined) return noteSent(telling, { target, sending: claimed, place, ts: found.ts });
  }
  if (isOver) {
    await book.note(subject, target, { claimed, as: "not sent" });
    return undefined;
  }
  const opened = await openConversation(telling, target);
  if (!opened.ok) {
    await book.note(subject, target, { claimed, as: "not sent", because: opened.reason });
    return opened;
  }
  const sending: SentMessage = { ...claimed, place: opened.place, notice: telling.notice.id };
  if (!(await book.note(subject, target, { claimed, as: sending }))) return BEING_SENT;
  return post(telling, { target, sending, place: opened.place });
}

/** When the medium may have got the message first. */
export function sinceOf({ at, since = at }: SentMessage): number {
  return since;
}
