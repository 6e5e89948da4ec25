import type { Delivery, DeliveryEnd, EndedDelivery } from "../journal/index.ts";
import type { Ledger } from "../ledger/index.ts";

interface Waiting extends EndedDelivery {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes how attempts ended. What ends in one turn of the event loop, or while a write is under way, is written together:
 * the faster messages are sent, the more of them share a write. None waits for one that has not ended.
 */
export class EndWriter {
  readonly #ledger: Ledger;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Resolves once it is written, or is known to say nothing because another attempt has begun. */
  write(attempt: Delivery, end: DeliveryEnd): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ attempt, end, resolve, reject });
      if (!this.#isWriting) this.#writeSoon();
    });
  }

  #writeSoon(): void {
    this.#isWriting = true;
    setImmediate(() => {
      const group = this.#waiting;
      this.#waiting = [];
      this.#ledger.outbox
        .endDeliveries(group)
        .then(
          () => group.forEach(({ resolve }) => resolve()),
          (error: unknown) => group.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          if (this.#waiting.length > 0) this.#writeSoon();
          else this.#isWriting = false;
        });
    });
  }
}
