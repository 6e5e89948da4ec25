import { type Clock, TransientMap } from "../../common/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { countOpen, MAX_OPEN_PER_SERVER } from "./open-limit.ts";

/** How long a count is used. */
const COUNTED_FOR_MS = 5_000;
/** For how many users counts are kept. */
const MOST_USERS = 1_000;

interface Counted {
  readonly at: number;
  /** Open when they were counted, and asked here since. */
  readonly open: number;
}

/**
 * Limits the open questions of one user over all sessions. They are counted in the ledger every five seconds, and in this
 * process in between: what other processes ask meanwhile may exceed the limit.
 */
export class UserOpenLimit {
  readonly #ledger: Pick<Ledger, "confirmations">;
  readonly #clock: Clock;
  readonly #counted = new TransientMap<string, Counted>();

  constructor(ledger: Pick<Ledger, "confirmations">, clock: Clock) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** Has this user as many open questions as one may have? */
  async isFull(user: string): Promise<boolean> {
    const known = this.#counted.get(user);
    const isNew = known !== undefined && this.#clock.monotonic() - known.at < COUNTED_FOR_MS;
    // Some may have been answered since: nobody is refused without a new count.
    const { open } = isNew && !isLimit(known) ? known : await this.#count(user);
    return isLimit({ open });
  }

  /** One more question of this user was stored. */
  asked(user: string): void {
    const known = this.#counted.get(user);
    if (known !== undefined) this.#counted.set(user, { ...known, open: known.open + 1 });
  }

  async #count(user: string): Promise<Counted> {
    const at = this.#clock.monotonic();
    const counted = { at, open: await countOpen(this.#ledger, { user }) };
    this.#counted.delete(user);
    this.#counted.set(user, counted);
    const [oldest = user] = this.#counted.keys();
    if (this.#counted.size > MOST_USERS) this.#counted.delete(oldest);
    return counted;
  }
}

function isLimit({ open }: Pick<Counted, "open">): boolean {
  return open >= MAX_OPEN_PER_SERVER;
}
