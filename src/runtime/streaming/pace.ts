import { setTimeout } from "node:timers/promises";
import type { Principal } from "../../engine/index.ts";

/** How many may read at once when something has changed. */
const FEW = 8;
/** More of one caller look so far apart, that they together look a few hundred times per second at most. */
const EACH_MS = 5;

/** One answer that waits for a change. */
export interface Waiting {
  /** To be awaited after each change, before the ledger is read again. */
  pause(leastMs?: number): Promise<void>;
  end(): void;
}

/**
 * How often answers that wait look at the ledger. All of them are woken by every commit, also by those of others: one caller with
 * hundreds of them must not make each commit expensive.
 */
export class Pace {
  readonly #waiting = new Map<string, number>();

  /** How many answers of this caller wait. */
  count(caller: Principal): number {
    return this.#waiting.get(nameOf(caller)) ?? 0;
  }

  begin(caller: Principal): Waiting {
    const name = nameOf(caller);
    this.#waiting.set(name, this.count(caller) + 1);
    return {
      pause: async (leastMs = 0) => {
        const count = this.count(caller);
        const ms = Math.max(leastMs, count > FEW ? count * EACH_MS : 0);
        if (ms > 0) await setTimeout(ms);
      },
      end: () => {
        const left = this.count(caller) - 1;
        if (left > 0) this.#waiting.set(name, left);
        else this.#waiting.delete(name);
      },
    };
  }
}

function nameOf({ kind, id }: Principal): string {
  return `${kind} ${id}`;
}
