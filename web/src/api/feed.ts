import type { StreamState } from "countersign/client";
import { client, toProblem } from "./client.ts";
import type { Confirmation } from "./types.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "offline" | "refused";

export interface FeedListener {
  /** The stream is on; whatever happened before it has to be read. */
  onReady(): void;
  onConfirmation(confirmation: Confirmation): void;
  onConnection(connection: Connection): void;
}

/** Listens to what happens to confirmations for as long as the page is open, through any interruption. */
export async function follow(listener: FeedListener): Promise<void> {
  let stream: Connection = "connecting";
  // A browser that says it is offline may still hold a stream, and one that says it is online may not.
  const tell = (now: Connection = stream): void => {
    stream = now;
    listener.onConnection(navigator.onLine || now === "connecting" ? now : "offline");
  };
  window.addEventListener("offline", () => tell());
  window.addEventListener("online", () => tell());
  try {
    // One that comes back is told first what it has missed, and nothing at all where that is nothing.
    const onState = (state: StreamState): void => {
      if (state === "waiting") tell("reconnecting");
      if (state === "open") tell("live");
    };
    for await (const message of client.stream({ onState })) {
      if (message.type === "confirmation") listener.onConfirmation(message.confirmation);
      if (message.type === "ready" || message.type === "reset") listener.onReady();
    }
  } catch (error) {
    tell(toProblem(error).status === 0 ? "offline" : "refused");
  }
}
