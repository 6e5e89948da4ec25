import type { FrameRecord } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { ToolActions } from "../tools/index.ts";

/** What is noted on a frame between its steps. */
export interface CursorNotes {
  /** How many children a composite has started. */
  readonly next?: number;
  /** Who takes over when the turn is complete. */
  readonly transferTo?: string;
  /** The agent is done without another word of its model. */
  readonly done?: boolean;
  /** Something below asked for the loop around it to end. */
  readonly escalated?: boolean;
  /** A child failed. */
  readonly failed?: boolean;
  /** How often models were asked in this run before the frame took another's place. */
  readonly spent?: number;
  /** What the last child that ended left. */
  readonly output?: JsonValue;
}

/** Reads a frame's notes. Each of them was written by this runtime. */
export function notesOf({ cursor }: Pick<FrameRecord, "cursor">): CursorNotes {
  return isJsonObject(cursor) ? cursor : {};
}

/** A tool's wishes as notes on its agent's frame; undefined where it has none. */
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
export function requestersOf({ cursor }: FrameRecord, user: string): readonly string[] {
  const known = isJsonObject(cursor) ? member(cursor, "requesters") : undefined;
  return Array.isArray(known) ? known.map(String) : [user];
}

/** What an ending frame tells the composite around it, if there is one: a call's frame answers its call instead. */
export function tellParent(
  { parentFrame, parentCall }: FrameRecord,
  notes: CursorNotes,
): { readonly parentCursor?: JsonObject } {
  if (parentFrame === undefined || parentCall !== undefined) return {};
  return { parentCursor: { ...notes } };
}
