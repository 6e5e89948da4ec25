import type { JsonValue } from "../../../protocol/index.ts";
import type { Principal } from "../../people/index.ts";

/** Who sent a message, as they were known then. */
export type Asker = Pick<Principal, "id" | "kind" | "authenticated"> & Partial<Pick<Principal, "roles">>;

export type FrameStatus = "ready" | "stepping" | "waiting" | "done" | "failed" | "cancelled";

export type FrameKind = "llm" | "sequential" | "parallel" | "loop" | "remote";

/**
 * One activation of one agent, with its current turn. Nothing of a run lives only in memory: a process that
 * finds this row and the calls it names can go on.
 */
export interface FrameRecord {
  /** Begins with `<session key>.`, as a call's does. */
  readonly id: string;
  readonly session: string;
  readonly app: string;
  readonly invocation: string;
  readonly parentFrame?: string;
  readonly parentCall?: string;
  readonly kind: FrameKind;
  readonly agent: string;
  readonly path: readonly string[];
  readonly branch?: string;
  /** Who asked, if others than the session's user did; every frame of a run acts for them. */
  readonly requesters?: readonly string[];
  /** Who sent the message that the run answers, as they were known then. */
  readonly asker?: Asker;
  readonly cursor: JsonValue;
  readonly status: FrameStatus;
  /** Counts model steps; with the frame's id it names a turn. */
  readonly turn: number;
  /** Ids of the current turn's calls, in the model's order. */
  readonly calls: readonly string[];
  /** How many of them have no answer yet. */
  readonly open: number;
  readonly owner?: string;
  readonly output?: JsonValue;
  /** How often in a row a process was lost during its step. */
  readonly lost?: number;
}
