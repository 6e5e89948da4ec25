import type { Ledger } from "../../engine/index.ts";

/** Beyond so many open questions of one server people read nothing any more, and find nothing of others'. */
export const MOST_OPEN = 100;

/** Keeps a client, which asks as fast as it can write, from filling everybody's inbox. */
export class OpenLimit {
  readonly #ledger: Pick<Ledger, "load" | "confirmations">;
  readonly #app: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(ledger: Pick<Ledger, "load" | "confirmations">, app: string) {
    this.#ledger = ledger;
    this.#app = app;
  }

  /** Asks, one after the other, unless too many wait already: then this is false. What was asked before may be asked again. */
  async asks(key: string, ask: () => Promise<unknown>): Promise<boolean> {
    const known = await this.#ledger.load({ session: { app: this.#app, user: "gate", id: key } });
    if (known !== undefined) return true;
    const asked = this.#last.then(async () => {
      if (await this.#isFull()) return false;
      await ask();
      return true;
    });
    this.#last = asked.catch(() => {});
    return asked;
  }

  async #isFull(): Promise<boolean> {
    const filter = { state: "open", app: this.#app } as const;
    const { items } = await this.#ledger.confirmations(filter, { limit: MOST_OPEN, preview: true });
    return items.length >= MOST_OPEN;
  }
}
