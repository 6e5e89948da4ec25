import type { Confirmation, SessionRecord } from "../../engine/index.ts";
import type { Part, StoredEvent } from "../../protocol/index.ts";
import type { RefusedAnswer } from "../messages/index.ts";
import type { Collected } from "../streaming/index.ts";
import { isNested } from "./history.ts";

/** The result of a message, up to the point where a person is needed. */
export interface Turn {
  /** `failed`: `error` says why. */
  readonly status: "completed" | "paused" | "failed";
  /** What the agents said to the user, in order. */
  readonly text: string;
  readonly pending: readonly Confirmation[];
  /** Calls whose outcome is unknown; the run waits until a person settles them. */
  readonly unknown: readonly UnknownCall[];
  readonly events: readonly StoredEvent[];
  readonly session: string;
  readonly user: string;
  readonly invocation: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** Refused answers in the message, and why. */
  readonly refused?: readonly RefusedAnswer[];
  /** Warnings about parts of the message that could not be understood. */
  readonly warnings?: readonly string[];
}

/** A call to be settled, by its confirmation's id if it has one. */
export interface UnknownCall {
  readonly call: string;
  readonly tool: string;
  readonly confirmation?: string;
}

function textOf(events: readonly StoredEvent[]): string {
  return events
    .filter((event) => event.author !== "user" && event.partial !== true && !isNested(event))
    .map(({ content }) => (content?.role === "model" ? spokenText(content.parts) : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** The text of a message, without the model's thoughts. */
export function spokenText(parts: readonly Part[]): string {
  return parts.map(({ text = "", thought }) => (thought === true ? "" : text)).join("");
}

/** Puts a turn together from what the ledger has of it. */
export function toTurn(
  session: Pick<SessionRecord, "id" | "user">,
  invocation: string,
  { events, unknown, pending }: Collected & { readonly pending: readonly Confirmation[] },
): Turn {
  // A failure of a nested run goes to the calling agent, which continues.
  const failure = events.findLast((event) => event.errorCode !== undefined && !isNested(event));
  const { errorCode = "internal", errorMessage = "" } = failure ?? {};
  return {
    status: pending.length + unknown.length > 0 ? "paused" : failure === undefined ? "completed" : "failed",
    text: textOf(events),
    pending,
    unknown: unknown.map(({ id, tool, confirmation }) => ({
      call: id,
      tool,
      ...(confirmation === undefined ? {} : { confirmation }),
    })),
    events,
    session: session.id,
    user: session.user,
    invocation,
    ...(failure === undefined ? {} : { error: { code: errorCode, message: errorMessage } }),
  };
}
