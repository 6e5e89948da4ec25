import type { Confirmation } from "../engine/index.ts";
import type { StoredEvent } from "../protocol/index.ts";

/** What came of a message, as far as it goes without a person. */
export interface Turn {
  /** `running`: another process has it; `failed`: the last event says why. */
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
    .flatMap(({ content }) => (content?.role === "model" ? content.parts : []))
    .map(({ text = "", thought }) => (thought === true ? "" : text))
    .filter((text) => text !== "")
    .join("\n");
}
