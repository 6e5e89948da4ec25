import type { Clock } from "../common/index.ts";
import type { Delivery, DeliveryEnd, EndedDelivery } from "../journal/index.ts";
import type { Ledger } from "../ledger/index.ts";

interface Waiting extends EndedDelivery {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes how attempts ended. What ends at the same moment, or while a write is under way, is written together: the faster
 * messages are sent, the more of them share a write. None waits for one that has not ended.
 */
export class EndWriter {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor({ ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock }) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** Resolves once it is written, or is known to say nothing because another attempt has begun. */
  write(attempt: Delivery, end: DeliveryEnd): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ attempt, end, resolve, reject });
      if (!this.#isWriting) this.#writeAll().catch(reject);
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      // Messages that were sent together end together, but not in the same instant.
      await this.#clock.sleep(0);
      const group = this.#waiting;
      this.#waiting = [];
      await this.#ledger.outbox.endDeliveries(group).then(
        () => group.forEach(({ resolve }) => resolve()),
        (error: unknown) => group.forEach(({ reject }) => reject(error)),
      );
    }
    this.#isWriting = false;
  }
}
