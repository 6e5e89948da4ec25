import type { Commit, CommitOutcome, Ledger } from "../../../src/engine/index.ts";

/** What stands in for a ledger's own members: of its parts (`items`, `owners`, …) some of their methods. */
export type LedgerOverrides = {
  readonly [K in keyof Ledger]?: K extends LedgerPart ? Partial<Ledger[K]> : Ledger[K];
};
type LedgerPart = "items" | "owners" | "journal" | "outbox";

/**
 * A ledger that does as `inner` does, but for what is given. Everything the engine does goes through its
 * ledger, so this is where tests watch it, stop it, kill it and lie to it; the engine has no hooks for that.
 */
export function wrapLedger(inner: Ledger, overrides: LedgerOverrides): Ledger {
  // It may be made to lose what it has, whatever is below it.
  return override(inner, { ...overrides, volatile: false });
}

function override<T extends object>(inner: T, overrides: object): T {
  return new Proxy(inner, {
    get(target, name) {
      const given: unknown = Reflect.get(overrides, name);
      const own: unknown = Reflect.get(target, name, target);
      if (typeof given === "object" && given !== null) return override(own as object, given);
      if (given !== undefined) return given;
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
