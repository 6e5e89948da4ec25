import type { CommitOutcome, StoreCommit } from "../../engine/index.ts";
import type { Database } from "../sqlite/database.ts";
import { writeCommit } from "./write-commit.ts";

interface Waiting {
  readonly commit: StoreCommit;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Commits that come together are written in one transaction, with one sync for all. Each is judged alone: a refused one
 * has written nothing. Where one fails, they are written one by one, so that its fault is only its own.
 */
export class CommitQueue {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #written: () => void;
  #waiting: Waiting[] = [];

  constructor(
    database: Database,
    { now, written }: { readonly now: () => number; readonly written: () => void },
  ) {
    this.#database = database;
    this.#now = now;
    this.#written = written;
  }

  add(commit: StoreCommit): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    try {
      const outcomes = await this.#write(group);
      this.#written();
      for (const [at, { resolve }] of group.entries()) resolve(outcomes[at] as CommitOutcome);
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else await this.#writeSingly(group);
    }
  }

  async #writeSingly(group: readonly Waiting[]): Promise<void> {
    for (const each of group) {
      await this.#write([each]).then(
        ([outcome]) => each.resolve(outcome as CommitOutcome),
        (error: unknown) => each.reject(error),
      );
    }
    this.#written();
  }

  #write(group: readonly Waiting[]): Promise<readonly CommitOutcome[]> {
    const sync = group.some(({ commit }) => commit.sync);
    return this.#database.write(
      sync,
      () => group.map(({ commit }) => writeCommit(this.#database, commit, this.#now())),
      (outcomes) => outcomes.some(({ ok }) => ok),
    );
  }
}
