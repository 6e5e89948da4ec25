import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "../../engine/index.ts";
import type { OpenTenants } from "./open-tenants.ts";

/** How tenants are swept. */
export interface SweepOptions {
  readonly names: () => Iterable<string> | Promise<Iterable<string>>;
  readonly everyMs: number;
  readonly onError: (error: unknown, tenant: string) => void;
}

/** Tenants that take long to open or to look at do not hold up the others, up to this many. */
const MOST_VISITS = 20;
/** A visit does not take the room of others for longer, whatever a tenant's calls and channels take. */
const MOST_STAY_MS = 30_000;

/**
 * Deadlines pass, escalations are due and processes die in tenants that nobody uses now, too. Those that are not open are
 * opened one after the other, and do what is due. They are closed when they are idle, or when others need the room.
 */
export class Sweep {
  readonly #tenants: OpenTenants;
  readonly #options: SweepOptions;
  readonly #stopped = new AbortController();
  readonly #visits = new Set<string>();
  readonly #ended: Promise<void>;

  constructor(tenants: OpenTenants, options: SweepOptions) {
    this.#tenants = tenants;
    this.#options = options;
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const names = await this.#names();
      // Spread over the time, so that a thousand tenants are not opened at once.
      const pauseMs = this.#options.everyMs / Math.max(names.length, 1);
      for (const name of names) {
        if (signal.aborted) return;
        if (!this.#tenants.isOpen(name)) this.#startVisit(name);
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      }
      if (names.length === 0)
        await sleep(this.#options.everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #names(): Promise<readonly string[]> {
    try {
      return [...(await this.#options.names())];
    } catch (error) {
      this.#options.onError(error, "");
      return [];
    }
  }

  #startVisit(name: string): void {
    if (this.#visits.has(name) || this.#visits.size >= MOST_VISITS) return;
    this.#visits.add(name);
    this.#visit(name)
      .catch((error: unknown) => this.#options.onError(error, name))
      .finally(() => this.#visits.delete(name))
      .catch(() => {});
  }

  /** It is in use until what was due is done and told. What takes longer goes on while it stays open. */
  async #visit(name: string): Promise<void> {
    const use = await this.#tenants.use(name);
    if (use === undefined) return;
    const { signal } = this.#stopped;
    const late = sleep(MOST_STAY_MS, undefined, { signal, ref: false }).catch(() => {});
    const done = async (): Promise<void> => {
      await use.tenant.engine.work({ once: true });
      await whenTold(use.tenant.engine.ledger, signal);
    };
    try {
      await Promise.race([done(), late]);
    } finally {
      use.release();
    }
  }
}

/** Channels read the journal when they hear of a change, so one look that finds nothing to send is not enough. */
const LOOKS = 3;
const LOOK_EVERY_MS = 200;

/** Resolves when no channel has a message to send, or to try again, soon. */
async function whenTold(ledger: Ledger, signal: AbortSignal): Promise<void> {
  const { outbox } = ledger;
  const channels = await outbox.channels();
  for (let quiet = 0; channels.length > 0 && quiet < LOOKS && !signal.aborted; ) {
    const next = await Promise.all(channels.map((channel) => outbox.nextDeliveryAt(channel)));
    const isDue = next.some((at = Number.POSITIVE_INFINITY) => at <= ledger.now + MOST_STAY_MS);
    quiet = isDue ? 0 : quiet + 1;
    await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}
