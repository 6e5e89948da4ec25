import { CountersignError } from "../../../protocol/index.ts";
import type { Database } from "../connection/database.ts";

/** Something that is written in a transaction, maybe together with others. */
export interface Write<T> {
  /** On disk before the promise resolves. */
  readonly sync: boolean;
  /** Runs inside the transaction, and again if that had to be begun again. One that refuses writes nothing. */
  run(): T;
  /** Did it write anything? */
  hasWritten(value: T): boolean;
  /** Listeners are notified of it. */
  readonly announce: boolean;
}

interface Waiting {
  readonly write: Write<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Errors of the file or its lock, and so of every commit that waits for it. */
const ERRORS_OF_ALL: ReadonlySet<string> = new Set(["closed", "ledger-busy", "ledger-unreachable"]);

/**
 * What comes together is written in one transaction, with one sync for all. Each is judged alone. What comes while the
 * lock is waited for goes into the next.
 */
export class CommitQueue {
  readonly #database: Database;
  readonly #written: () => void;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(database: Database, written: () => void) {
    this.#database = database;
    this.#written = written;
  }

  add<T>(write: Write<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject } as Waiting);
      if (!this.#isWriting) this.#writeSoon();
    });
  }

  // Not at once: commits made in this turn of the event loop can still join.
  #writeSoon(): void {
    this.#isWriting = true;
    setImmediate(() => {
      const group = this.#waiting;
      this.#waiting = [];
      const goOn = (): void => {
        if (this.#waiting.length > 0) this.#writeSoon();
        else this.#isWriting = false;
      };
      this.#writeGroup(group).then(goOn, goOn);
    });
  }

  /** Never rejects: each one's promise does. */
  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const values = await this.#database.write(
        group.some(({ write }) => write.sync),
        () => group.map(({ write }) => write.run()),
        (all) => group.some(({ write }, at) => write.hasWritten(all[at])),
      );
      if (group.some(({ write }, at) => write.announce && write.hasWritten(values[at]))) this.#written();
      for (const [at, { resolve }] of group.entries()) resolve(values[at]);
    } catch (error) {
      // One by one, so that the fault of one is only its own.
      if (group.length > 1 && !isOfAll(error)) for (const each of group) await this.#writeGroup([each]);
      else for (const { reject } of group) reject(error);
    }
  }
}

function isOfAll(error: unknown): boolean {
  return CountersignError.isInstance(error) && ERRORS_OF_ALL.has(error.code);
}
