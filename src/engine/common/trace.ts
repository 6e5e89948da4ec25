/** One traced operation. */
export interface Traced {
  readonly name: "decide" | "claim" | "tool" | "model";
  /** Names and ids; never arguments or results. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Runs the work and returns its result; adds a trace around it. */
export type Trace = <T>(traced: Traced, work: () => Promise<T>) => Promise<T>;

export const untraced: Trace = (_traced, work) => work();
