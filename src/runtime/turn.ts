import type { Confirmation, SessionRecord } from "../engine/index.ts";
import type { Part, StoredEvent } from "../protocol/index.ts";

/** What came of a message, as far as it goes without a person. */
export interface Turn {
  /** `failed`: `error` says why. */
  readonly status: "completed" | "paused" | "failed";
  /** What the agents said, in order. */
  readonly text: string;
  readonly pending: readonly Confirmation[];
  readonly events: readonly StoredEvent[];
  readonly session: string;
  readonly user: string;
  readonly invocation: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The words of the agents in these events. */
export function textOf(events: readonly StoredEvent[]): string {
  return events
    .filter(({ author, partial }) => author !== "user" && partial !== true)
    .map(({ content }) => (content?.role === "model" ? spokenText(content.parts) : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** The text of a message, without what the model only thought. */
export function spokenText(parts: readonly Part[]): string {
  return parts.map(({ text = "", thought }) => (thought === true ? "" : text)).join("");
}

/** Puts a turn together from what the ledger has of it. */
export function toTurn(
  session: Pick<SessionRecord, "id" | "user">,
  invocation: string,
  { events, pending }: { readonly events: readonly StoredEvent[]; readonly pending: readonly Confirmation[] },
): Turn {
  const failure = events.findLast(({ errorCode }) => errorCode !== undefined);
  const { errorCode = "internal", errorMessage = "" } = failure ?? {};
  return {
    status: pending.length > 0 ? "paused" : failure === undefined ? "completed" : "failed",
    text: textOf(events),
    pending,
    events,
    session: session.id,
    user: session.user,
    invocation,
    ...(failure === undefined ? {} : { error: { code: errorCode, message: errorMessage } }),
  };
}
