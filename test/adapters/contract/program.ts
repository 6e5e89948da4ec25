import type { Line } from "../../support/processes/child.ts";
import type { Progress } from "./subject.ts";

/** What a process of the suite is given. */
export interface ProgramOptions {
  readonly url: string;
  readonly effects: string;
  readonly subject: string;
  readonly state: string;
  readonly leaseMs?: number;
  readonly streams?: true;
}

/** What it says: that it can begin, that a payment has begun that does not end, or how far it came. */
export type ProgramLine =
  | (Line & { readonly type: "ready" })
  | (Line & { readonly type: "entered" })
  | (Line & { readonly type: "progress"; readonly progress: Progress });
