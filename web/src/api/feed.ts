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
  const onState = (state: "connecting" | "open" | "waiting"): void => {
    if (state === "waiting") listener.onConnection(navigator.onLine ? "reconnecting" : "offline");
  };
  window.addEventListener("offline", () => listener.onConnection("offline"));
  try {
    for await (const message of client.stream({ onState })) {
      if (message.type === "confirmation") listener.onConfirmation(message.confirmation);
      if (message.type !== "ready" && message.type !== "reset") continue;
      listener.onConnection("live");
      listener.onReady();
    }
  } catch (error) {
    listener.onConnection(toProblem(error).status === 0 ? "offline" : "refused");
  }
}
