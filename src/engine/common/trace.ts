/** One traced operation. */
export interface Traced {
  readonly name: "decide" | "claim" | "tool" | "model";
  /** Names and ids; never arguments or results. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Links the operation to an earlier one, named by its W3C `traceparent`; undefined links to nothing. */
export type TraceLink = (traceparent: string | undefined) => void;

/** Traces operations. */
export interface Trace {
  /** Runs the work and returns its result; adds a trace around it. */
  <T>(traced: Traced, work: (link?: TraceLink) => Promise<T>): Promise<T>;
  /**
   * What runs now, as a W3C `traceparent`. It is stored with every question: what happens after the wait, perhaps days
   * later in another process, is linked to it.
   */
  current?(): string | undefined;
}

export const untraced: Trace = (_traced, work) => work();
