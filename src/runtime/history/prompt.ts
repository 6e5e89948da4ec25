import {
  type CallRecord,
  type CallStatus,
  type EngineParts,
  type FrameRecord,
  historyOf,
  type Ledger,
} from "../../engine/index.ts";
import type { Content, JsonObject, StoredEvent } from "../../protocol/index.ts";
import { isVisible } from "./history.ts";
import { readHistory } from "./reading.ts";
import type { UsedIds } from "./used-ids.ts";

/** A prompt, and what is known of the history that it was built from. */
export interface Prompt {
  readonly contents: readonly Content[];
  /** How many events it was built from. */
  readonly events: number;
  /** Every call id that the session has used. */
  readonly usedIds: Pick<UsedIds, "has">;
  /** Calls of this invocation that were refused, or answered with an error. */
  readonly refused: ReadonlySet<string>;
  /** Is there a call without an answer in the session? */
  readonly hasOpenCalls: boolean;
}

const OPEN_ANSWERS: { readonly [status in CallStatus]?: string } = {
  waiting: "awaiting a person's decision; it has not run",
  suspended: "awaiting a person's decision; it has not finished",
  ready: "approved, and about to run; there is no result yet",
  executing: "running; there is no result yet",
  unknown: "it started, but its outcome is unknown; a person must settle it",
};

/** Reads the history and makes the conversation that this frame's agent continues. */
export async function buildPrompt(parts: EngineParts, frame: FrameRecord): Promise<Prompt> {
  const events = await historyOf(parts, frame);
  const { agent, branch } = frame;
  let reading = readHistory(events);
  let statuses = NONE;
  if (reading.ids.open.size > 0) {
    statuses = await statusesOf(parts.ledger, frame, reading.ids.open);
    // Meanwhile another step of the session may have read on.
    reading = readHistory(events);
  }
  const { used, open, refused } = reading.ids;
  const contents = reading.contentsFor({ agent, ...(branch === undefined ? {} : { branch }) }, (id) =>
    openAnswer(statuses.get(id)),
  );
  const news = newsFor(events, frame);
  if (news !== undefined) contents.push(news);
  return {
    contents,
    events: events.length,
    usedIds: used,
    refused: refused.get(frame.invocation) ?? NO_CALLS,
    hasOpenCalls: open.size > 0,
  };
}

const NO_CALLS: ReadonlySet<string> = new Set();
const NONE: ReadonlyMap<string, CallStatus> = new Map();

async function statusesOf(
  ledger: Ledger,
  { session }: FrameRecord,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, CallStatus>> {
  const calls = await ledger.calls(Array.from(ids, (id) => `${session}.${id}`));
  return new Map(calls.map(({ wireId, status }) => [wireId, status]));
}

function openAnswer(status: CallStatus | undefined): JsonObject {
  return { status: "pending", message: (status && OPEN_ANSWERS[status]) ?? "there is no result yet" };
}

// Late answers are placed after their calls. If there were messages since, that is far above the end, so the model gets
// a note about them.
function newsFor(events: readonly StoredEvent[], frame: FrameRecord): Content | undefined {
  if (frame.calls.length === 0 || !events.some(({ invocationId }) => invocationId !== frame.invocation))
    return undefined;
  const wireIds = new Set(frame.calls.map((id) => id.slice(frame.session.length + 1)));
  const turnAt = events.findLastIndex(({ content }) =>
    content?.parts.some(({ functionCall }) => functionCall?.id !== undefined && wireIds.has(functionCall.id)),
  );
  const talkedOn = events
    .slice(turnAt + 1)
    .some(
      (event) =>
        event.content !== undefined &&
        event.invocationId !== frame.invocation &&
        isVisible(event, frame.branch),
    );
  if (turnAt < 0 || !talkedOn) return undefined;
  const names = (events[turnAt]?.content?.parts ?? []).flatMap(({ functionCall }) =>
    functionCall === undefined ? [] : [functionCall.name],
  );
  const text = `(The results of the earlier calls to ${names.join(", ")} have arrived; they are shown above, after those calls.)`;
  return { role: "user", parts: [{ text }] };
}

/** Calls of this invocation that were denied: the same call gets the same answer until the user sends a message. */
export async function deniedCalls(
  ledger: Ledger,
  frame: FrameRecord,
  { refused }: Prompt,
): Promise<readonly CallRecord[]> {
  // A denied call has an error answer, so most calls need not be read.
  if (refused.size === 0) return [];
  const calls = await ledger.calls(Array.from(refused, (id) => `${frame.session}.${id}`));
  return calls.filter(({ status }) => status === "denied");
}
