import type { StreamState } from "countersign/client";
import { client, toProblem } from "./client.ts";
import type { Confirmation } from "./types.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "offline" | "refused";

export interface FeedListener {
  /** The stream is open; earlier changes must be read. */
  onReady(): void;
  onConfirmation(confirmation: Confirmation): void;
  onConnection(connection: Connection): void;
}

/** Follows changes of confirmations while the page is open; reconnects after interruptions. */
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
    // After a reconnect the missed changes come first, if any.
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
