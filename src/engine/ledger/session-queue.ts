import { TransientMap } from "../common/index.ts";

/**
 * Lets one process change a session one command at a time. Only to avoid needless conflicts: what keeps two
 * commands apart is the version in the ledger, here as across machines.
 */
export class SessionQueue {
  readonly #tails = new TransientMap<string, Promise<unknown>>();

  /** Runs after everything queued before it for this session. */
  async run<T>(session: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(session);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#tails.set(session, mine);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(session) === mine) this.#tails.delete(session);
    }
  }
}
