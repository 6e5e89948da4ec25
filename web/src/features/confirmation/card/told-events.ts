import type { ToldPerson } from "countersign/client";
import type { TimelineEvent } from "./timeline-events.ts";

/** What became of a message to somebody, in a few words. */
export function toldEvent({ person = "a room", channel, state, isReply, reason }: ToldPerson): TimelineEvent {
  const again = isReply ? " again" : "";
  switch (state) {
    case "sent":
      return { text: `Notified ${person}${again} by ${channel}`, tone: "plain" };
    case "sending":
      return { text: `Notifying ${person}${again} by ${channel}`, tone: "plain" };
    case "unsure":
      return { text: `May have notified ${person}${again} by ${channel}: the answer was lost`, tone: "warn" };
    case "failed": {
      const why = reason === undefined ? "" : `: ${reason}`;
      return { text: `Could not notify ${person}${again} by ${channel}${why}`, tone: "warn" };
    }
  }
}
