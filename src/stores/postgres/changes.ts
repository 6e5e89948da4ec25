import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, LoneConnection } from "./connection/index.ts";
import { probeListening } from "./listen-probe.ts";

// As the schema is called: what changes in one ledger wakes nobody who listens to another of the same database.
const LISTEN = "listen countersign";
// Not synced: after a crash, processes have to look for changes anyway.
const NOTIFY = "select set_config('synchronous_commit', 'off', true), pg_notify('countersign', $1)";

// At most this often are other processes notified; later changes go with the next notification.
const BREATH_MS = 10;
// The floor: what nobody told us of, because they died before they could, is looked for so often.
const POLL_MS = 2_000;
const RECONNECT_MS = 250;
const LOOK = "select 1";
// What is asked waits for nothing: a connection that takes longer is dead, or no better than dead.
const ANSWER_LIMIT_MS = 1_000;
const LATE = Symbol("late");

interface Notification {
  readonly channel: string;
  readonly payload?: string;
}

/**
 * Tells listeners that something was committed: by this handle at once, by others when they notify. Notifying is not
 * part of a commit, because commits that notify wait for each other; a process that dies in between is made up for by
 * the floor. The connection that listens is asked something at every floor, so that a dead one is noticed; having
 * been deaf counts as a change.
 */
export class Changes {
  readonly #database: Database;
  readonly #listening: Database;
  readonly #own = randomBytes(8).toString("hex");
  readonly #listeners: Set<() => void> = new Set();
  #announced = false;
  #telling: Promise<void> | undefined;
  #toTell = false;
  #stop: AbortController | undefined;

  /** `listening`: the same database, where notifications arrive even if the other has a pooler in front of it. */
  constructor(database: Database, listening: Database = database) {
    this.#database = database;
    this.#listening = listening;
  }

  listen(listener: () => void): () => void {
    this.#database.assertOpen();
    // Wrapped, so that the same function can listen twice and stop once.
    const own = (): void => listener();
    this.#listeners.add(own);
    if (this.#stop === undefined) this.#startListening();
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** This handle has changed something: its own listeners are notified soon, and those of other processes too. */
  announce(): void {
    this.#tellListeners();
    this.#toTell = true;
    this.#telling ??= this.#tellOthers().finally(() => {
      this.#telling = undefined;
    });
  }

  /** Resolves when whatever was announced has been told. */
  async close(): Promise<void> {
    this.#stop?.abort();
    await this.#telling;
  }

  /** Wakes all listeners, which then find the ledger closed. */
  wakeAll(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) tell(listener);
  }

  // Many commits in one turn of the event loop are one announcement.
  #tellListeners(): void {
    if (this.#announced || this.#listeners.size === 0) return;
    this.#announced = true;
    setImmediate(() => {
      this.#announced = false;
      for (const listener of this.#listeners) tell(listener);
    });
  }

  async #tellOthers(): Promise<void> {
    while (this.#toTell) {
      this.#toTell = false;
      // What cannot be told now, others find at their floor.
      await this.#database.run(NOTIFY, [this.#own], { patient: false }).catch(() => {});
      if (this.#stop?.signal.aborted !== true) await sleep(BREATH_MS);
    }
  }

  #startListening(): void {
    const stop = new AbortController();
    this.#stop = stop;
    this.#keepListening(stop.signal).catch(() => {});
  }

  async #keepListening(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let connection: LoneConnection | undefined;
      try {
        connection = await this.#listening.loneConnection();
        await this.#listenOn(connection, signal);
      } catch {
        await this.#listening.lost();
        await pause(RECONNECT_MS, signal);
      } finally {
        // Not `end`, which waits for a server that may not answer.
        connection?.connection.stream.destroy();
      }
      this.#tellListeners();
    }
  }

  /** Until the connection fails or nobody listens any more. */
  async #listenOn(connection: LoneConnection, signal: AbortSignal): Promise<void> {
    const lost = new AbortController();
    connection.on("error", () => lost.abort());
    connection.on("end", () => lost.abort());
    connection.on("notification", ({ channel, payload }: Notification) => {
      if (channel === this.#database.schema && payload !== this.#own) this.#tellListeners();
    });
    await answered(connection.connect(), signal);
    connection.unref();
    const either = AbortSignal.any([signal, lost.signal]);
    // Where notifications may not arrive, that is tried first; meanwhile, and if they do not, there is the floor.
    const heard: AbortSignal = this.#listening.keepsSessions
      ? AbortSignal.abort()
      : await answered(probeListening(connection, this.#database), either);
    let isListening: boolean = false;
    while (!either.aborted) {
      const isFirst: boolean = heard.aborted && !isListening;
      isListening ||= isFirst;
      await answered(connection.query({ text: isFirst ? LISTEN : LOOK }), either);
      this.#tellListeners();
      await pause(POLL_MS, isListening ? either : AbortSignal.any([either, heard]));
    }
    if (!signal.aborted) throw new Error("The connection was lost.");
  }
}

/** Rejects if there is no answer in time; the driver's own patience is longer. */
async function answered<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = sleep(ANSWER_LIMIT_MS, LATE, { ref: false, signal });
  const first = await Promise.race([answer, late]);
  if (first === LATE) throw new Error("The connection does not answer.");
  return first;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { ref: false, signal }).catch(() => {});
}

// One listener's fault is neither the others' nor the committer's.
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
