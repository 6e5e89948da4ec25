import type { FrameRecord } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { ToolActions } from "../tools/index.ts";

/** What is stored on a frame between its steps. */
export interface CursorNotes {
  /** How many children a composite has started. */
  readonly next?: number;
  /** Who takes over when the turn is complete. */
  readonly transferTo?: string;
  /** The agent is done, without asking its model again. */
  readonly done?: boolean;
  /** A frame below asked to end the surrounding loop. */
  readonly escalated?: boolean;
  /** A child failed. */
  readonly failed?: boolean;
  /** How often models were asked in this run before this frame replaced another. */
  readonly spent?: number;
  /** The result of the last child that ended. */
  readonly output?: JsonValue;
}

/** Reads a frame's notes. Only this runtime writes them. */
export function notesOf({ cursor }: Pick<FrameRecord, "cursor">): CursorNotes {
  return isJsonObject(cursor) ? cursor : {};
}

/** A tool's actions as notes on its agent's frame; undefined if there are none. */
export function notesFrom({
  escalate,
  transferToAgent,
  skipSummarization,
}: ToolActions): JsonObject | undefined {
  const notes: CursorNotes = {
    ...(escalate === true ? { escalated: true } : {}),
    ...(transferToAgent === undefined ? {} : { transferTo: transferToAgent }),
    ...(skipSummarization === true ? { done: true } : {}),
  };
  return Object.keys(notes).length === 0 ? undefined : { ...notes };
}

/** Everyone who counts as having asked for this run. */
export function requestersOf({ requesters }: FrameRecord, user: string): readonly string[] {
  return requesters ?? [user];
}

/** What an ending frame returns to its composite parent, if any; a call's frame answers its call instead. */
export function tellParent(
  { parentFrame, parentCall }: FrameRecord,
  notes: CursorNotes,
): { readonly parentCursor?: JsonObject } {
  if (parentFrame === undefined || parentCall !== undefined) return {};
  return { parentCursor: { ...notes } };
}
