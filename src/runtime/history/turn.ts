import type { Confirmation, SessionRecord } from "../../engine/index.ts";
import type { Part, StoredEvent } from "../../protocol/index.ts";
import type { RefusedAnswer } from "../messages/index.ts";
import type { Collected } from "../streaming/index.ts";
import { isNested } from "./history.ts";

/** What came of a message, as far as it goes without a person. */
export interface Turn {
  /** `failed`: `error` says why. */
  readonly status: "completed" | "paused" | "failed";
  /** What the agents said to the user, in order. */
  readonly text: string;
  readonly pending: readonly Confirmation[];
  /** Calls that started and whose end is not known; the run waits until a person settles them. */
  readonly unknown: readonly UnknownCall[];
  readonly events: readonly StoredEvent[];
  readonly session: string;
  readonly user: string;
  readonly invocation: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** Answers in the message that were not taken, and why. */
  readonly refused?: readonly RefusedAnswer[];
  /** Of parts of the message that nothing could be made of. */
  readonly warnings?: readonly string[];
}

/** A call to be settled, by its confirmation's id where it has one. */
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

/** The text of a message, without what the model only thought. */
export function spokenText(parts: readonly Part[]): string {
  return parts.map(({ text = "", thought }) => (thought === true ? "" : text)).join("");
}

/** Puts a turn together from what the ledger has of it. */
export function toTurn(
  session: Pick<SessionRecord, "id" | "user">,
  invocation: string,
  { events, unknown, pending }: Collected & { readonly pending: readonly Confirmation[] },
): Turn {
  // A nested run that failed has told the agent that asked, who went on with that.
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
