import type { ErrorCode, Event } from "../../protocol/index.ts";
import type { Session } from "../../runtime/index.ts";

const MS_PER_SECOND = 1000;

/** The ADK's name for a model failure without its own code. */
const MODEL_FAILED = "UNKNOWN_ERROR";

/** An event as these routes send it: times are seconds. */
export function toAdkEvent(event: Event): Event {
  const timestamp = event.timestamp / MS_PER_SECOND;
  const ours: ErrorCode = "model-failed";
  return { ...event, timestamp, ...(event.errorCode === ours ? { errorCode: MODEL_FAILED } : {}) };
}

/** A session as these routes send it. */
export function toAdkSession(session: Session): Session {
  return {
    ...session,
    events: session.events.map(toAdkEvent),
    lastUpdateTime: session.lastUpdateTime / MS_PER_SECOND,
  };
}

/** One event of a stream, as its clients split it: a line and a blank one, nothing else. */
export function toSseChunk(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
