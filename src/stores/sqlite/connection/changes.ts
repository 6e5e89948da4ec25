import type { Database } from "./database.ts";

const POLL_MS = 20;
const DATA_VERSION = "pragma data_version";

/**
 * Tells listeners that something was committed: by this handle at once, by others within {@link POLL_MS}.
 * Watching the WAL file instead misses commits. Nothing is polled while nobody listens.
 */
export class Changes {
  readonly #database: Database;
  readonly #listeners: Set<() => void> = new Set();
  #poll: NodeJS.Timeout | undefined;
  #seen: unknown;
  #announced = false;

  constructor(database: Database) {
    this.#database = database;
  }

  listen(listener: () => void): () => void {
    this.#database.assertOpen();
    // Wrapped, so that the same function can listen twice and stop once.
    const own = (): void => listener();
    this.#listeners.add(own);
    if (this.#poll === undefined) this.#startPolling();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#stopPolling();
    };
  }

  /** Many commits in one turn of the event loop are one announcement. */
  announce(): void {
    if (this.#announced || this.#listeners.size === 0) return;
    this.#announced = true;
    setImmediate(() => {
      this.#announced = false;
      for (const listener of this.#listeners) tell(listener);
    });
  }

  /** Wakes all listeners, which then find the ledger closed. */
  close(): void {
    this.#stopPolling();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) tell(listener);
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  #startPolling(): void {
    this.#seen = this.#dataVersion();
    this.#poll = setInterval(() => {
      const version = this.#dataVersion();
      // Unreadable, because another process holds the file: then something is about to change.
      if (version === this.#seen && version !== undefined) return;
      this.#seen = version;
      this.announce();
    }, POLL_MS);
    this.#poll.unref();
  }

  #dataVersion(): unknown {
    try {
      return this.#database.get(DATA_VERSION)?.[0];
    } catch {
      // The listeners will read, and get the error where it can be answered.
      return undefined;
    }
  }
}

// One listener's fault is neither the others' nor the committer's.
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
