import {
  type CallRecord,
  type CallStatus,
  type EngineParts,
  type FrameRecord,
  historyOf,
  type Ledger,
} from "../../engine/index.ts";
import type { Content, JsonObject, StoredEvent } from "../../protocol/index.ts";
import { isVisible, toContents } from "./history.ts";

/** A prompt, and the records that it was built from. */
export interface Prompt {
  readonly contents: readonly Content[];
  readonly events: readonly StoredEvent[];
  /** Every call id that the session has used. */
  readonly usedIds: ReadonlySet<string>;
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
  const { ledger } = parts;
  const events = await historyOf(parts, frame);
  const { used, asked, answered } = callIdsOf(events);
  const openIds = [...asked].filter((id) => !answered.has(id));
  const open = openIds.length === 0 ? [] : await ledger.calls(openIds.map((id) => `${frame.session}.${id}`));
  const statuses = new Map(open.map(({ wireId, status }) => [wireId, status]));
  const contents = toContents(events, {
    agent: frame.agent,
    ...(frame.branch === undefined ? {} : { branch: frame.branch }),
    openAnswer: (id) => openAnswer(statuses.get(id)),
  });
  const news = newsFor(events, frame);
  return {
    contents: news === undefined ? contents : [...contents, news],
    events,
    usedIds: used,
    hasOpenCalls: openIds.length > 0,
  };
}

function openAnswer(status: CallStatus | undefined): JsonObject {
  return { status: "pending", message: (status && OPEN_ANSWERS[status]) ?? "there is no result yet" };
}

interface CallIds {
  /** Ids of all calls and answers, so that no new call gets the id of an imported answer. */
  readonly used: ReadonlySet<string>;
  readonly asked: ReadonlySet<string>;
  readonly answered: ReadonlySet<string>;
}

// Once over everything that was said, at every step: no lists are made on the way.
function callIdsOf(events: readonly StoredEvent[]): CallIds {
  const [used, asked, answered] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { content, imported } of events) {
    for (const { functionCall, functionResponse } of content?.parts ?? []) {
      const [call, answer] = [functionCall?.id, functionResponse?.id];
      if (call !== undefined) used.add(call);
      if (answer !== undefined) used.add(answer);
      if (imported !== undefined) continue;
      if (call !== undefined) asked.add(call);
      if (answer !== undefined) answered.add(answer);
    }
  }
  return { used, asked, answered };
}

// Late answers are placed after their calls. If there were messages since, that is far above the end, so the model gets
// a note about them.
function newsFor(events: readonly StoredEvent[], frame: FrameRecord): Content | undefined {
  if (frame.calls.length === 0) return undefined;
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
  events: readonly StoredEvent[],
): Promise<readonly CallRecord[]> {
  const ids = new Set<string>();
  for (const event of events) if (event.invocationId === frame.invocation) addRefused(ids, event);
  if (ids.size === 0) return [];
  const calls = await ledger.calls(Array.from(ids, (id) => `${frame.session}.${id}`));
  return calls.filter(({ status }) => status === "denied");
}

// A denied call has an error answer, so most calls need not be read.
function addRefused(ids: Set<string>, { content, closings }: StoredEvent): void {
  for (const { callId, confirmed } of closings ?? []) if (!confirmed) ids.add(callId);
  for (const { functionResponse } of content?.parts ?? []) {
    const { id, response } = functionResponse ?? {};
    if (id !== undefined && response !== undefined && "error" in response) ids.add(id);
  }
}
