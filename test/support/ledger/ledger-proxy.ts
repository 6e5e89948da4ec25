import type { Commit, CommitOutcome, Ledger } from "../../../src/engine/index.ts";

/**
 * A ledger that does as `inner` does, but for what is given. Everything the engine does goes through its
 * ledger, so this is where tests watch it, stop it, kill it and lie to it; the engine has no hooks for that.
 */
export function wrapLedger(inner: Ledger, overrides: Partial<Ledger>): Ledger {
  return new Proxy(inner, {
    get(target, name) {
      // It may be made to lose what it has, whatever is below it.
      const given: unknown = name === "volatile" ? false : Reflect.get(overrides, name);
      if (given !== undefined) return given;
      const own: unknown = Reflect.get(target, name, target);
      return typeof own === "function" ? (own.bind(target) as unknown) : own;
    },
  });
}

/** What to do around a commit. */
export interface CommitWatch {
  readonly before?: (commit: Commit) => Promise<void> | void;
  /** Only for what was committed. */
  readonly after?: (commit: Commit) => Promise<void> | void;
}

/** A ledger that tells of every commit. */
export function watchCommits(inner: Ledger, watch: CommitWatch): Ledger {
  return wrapLedger(inner, {
    async commit(commit: Commit): Promise<CommitOutcome> {
      await watch.before?.(commit);
      const outcome = await inner.commit(commit);
      if (outcome.ok) await watch.after?.(commit);
      return outcome;
    },
  });
}

/** The next change of the ledger after this call, by whomever. */
export function nextChange(ledger: Ledger): Promise<void> {
  const changed = new Promise<void>((resolve) => {
    const unsubscribe = ledger.onChange(() => {
      unsubscribe();
      resolve();
    });
  });
  // Of a ledger that was closed whoever waits hears; most look first.
  changed.catch(() => {});
  return changed;
}
