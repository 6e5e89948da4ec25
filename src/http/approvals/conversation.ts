import type { CallRecord, FrameRecord, Ledger } from "../../engine/index.ts";
import type { Imported, StoredEvent } from "../../protocol/index.ts";
import {
  callIdsIn,
  hideSecrets,
  isNested,
  isolatedBranch,
  isVisible,
  secretsIn,
} from "../../runtime/index.ts";

const LOOK_BACK = 400;
const LOOK_BACK_BYTES = 2_000_000;
const MOST_MESSAGES = 20;
const LONGEST_TEXT = 4_000;

/** One thing that was said. */
export interface Message {
  readonly author: string;
  readonly at: string;
  readonly text: string;
  /** Imported: the person that it names may not have said it. */
  readonly imported?: Imported;
}

/**
 * The last messages before a call, as texts: no calls, no results, no confirmation traffic, and without the values of
 * secrets that the session's calls declared. Empty if the call is too far back in a long session.
 */
export async function conversationBefore(
  ledger: Pick<Ledger, "events" | "calls">,
  call: CallRecord,
  frame: Pick<FrameRecord, "branch"> | undefined,
): Promise<readonly Message[]> {
  const events = await ledger.events(call.session, { last: LOOK_BACK, bytes: LOOK_BACK_BYTES });
  const asked = events.findLastIndex(
    (event) => event.imported === undefined && callIdsIn(event).includes(call.wireId),
  );
  if (asked === -1) return [];
  // The event that makes the call may say why; it is part of what led there.
  const before = events.slice(0, asked + 1).filter((event) => leadsTo(event, frame?.branch));
  const secrets = await secretsIn(ledger, call.session, events);
  return before
    .map((event) => ({ event, text: textOf(event) }))
    .filter(({ text }) => text !== "")
    .slice(-MOST_MESSAGES)
    .map(({ event, event: { timestamp, imported }, text }) => ({
      author: speakerOf(event, events),
      at: new Date(timestamp).toISOString(),
      text: hideSecrets(text, secrets, LONGEST_TEXT),
      ...(imported === undefined ? {} : { imported }),
    }));
}

// Messages to a sibling agent are another conversation; but the approver sees everything that the model reads.
function leadsTo(event: StoredEvent, here = ""): boolean {
  const { branch, partial } = event;
  if (partial === true) return false;
  return branch === undefined || here.startsWith(`${branch}.`) || isVisible(event, here);
}

/** Who said it. What an agent asks of another one is told to that as its user's words: no person said it. */
function speakerOf(event: StoredEvent, events: readonly StoredEvent[]): string {
  const { author, branch } = event;
  if (author !== "user" || !isNested(event)) return author;
  const caller = events.find(
    (other) => other.imported === undefined && callIdsIn(other).some((id) => isolatedBranch(id) === branch),
  );
  return caller?.author ?? "another agent";
}

// Only a model of ours may mark text as a thought. Otherwise text from others could be hidden from the approver.
function textOf({ content, author, imported }: StoredEvent): string {
  const isModels = author !== "user" && imported === undefined;
  return (content?.parts ?? [])
    .flatMap(({ text, thought }) =>
      typeof text === "string" && !(isModels && thought === true) ? [text] : [],
    )
    .join("\n")
    .trim();
}
