/** A piece of what a process does, as somebody who watches it sees it. */
export interface Traced {
  readonly name: "decide" | "claim" | "tool" | "model";
  /** Names and ids; never arguments or results. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Runs the work, and gives back what it gives. What it adds around it is only for whoever watches. */
export type Trace = <T>(traced: Traced, work: () => Promise<T>) => Promise<T>;

export const untraced: Trace = (_traced, work) => work();
