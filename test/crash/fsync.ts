/** How often each command is performed while its syncs are counted. */
export const TIMES = 20;

/** The path under which nothing exists, and whose names stand in the trace. */
export const MARK = "/countersign-mark/";

/** Commands whose syncs are counted. */
export type Marked =
  | "message"
  | "model turn"
  | "ungated claim"
  | "repeatable claim"
  | "step of the model ends"
  | "decide and claim"
  | "decide elsewhere"
  | "claim alone"
  | "result"
  | "deny"
  | "step start"
  | "step end";

export interface FsyncOptions {
  readonly folder: string;
  readonly durability?: "full";
}
