import type { Ledger, SessionName } from "../../engine/index.ts";

const MOST_KNOWN = 10_000;

/** The names of sessions, by key. A name never changes, so it is read once and cached. */
export class SessionNames {
  readonly #ledger: Ledger;
  #known = new Map<string, SessionName>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async of(key: string): Promise<SessionName | undefined> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const session = (await this.#ledger.load({ sessionKey: key }))?.session;
    if (session === undefined) return undefined;
    const { app, user, id } = session;
    return this.know(key, { app, user, id });
  }

  /** Caches a name that was just read or created. */
  know(key: string, name: SessionName): SessionName {
    // Clearing the whole cache now and then is simpler than removing single entries, and costs one read each.
    if (this.#known.size >= MOST_KNOWN) this.#known = new Map();
    this.#known.set(key, name);
    return name;
  }
}
