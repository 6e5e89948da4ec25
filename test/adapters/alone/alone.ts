import type { AdapterSubject } from "../contract/subject.ts";

/** A framework with its own approval and without ours: its `resume` approves in the framework's own way and goes on. */
export interface AloneSubject extends AdapterSubject {
  /** The subject with our adapter. */
  readonly of: string;
}
