import { setTimeout as sleep } from "node:timers/promises";
import type { OpenTenants } from "./open-tenants.ts";

/** How tenants are swept. */
export interface SweepOptions {
  readonly names: () => Iterable<string> | Promise<Iterable<string>>;
  readonly everyMs: number;
  readonly onError: (error: unknown, tenant: string) => void;
}

/**
 * Deadlines pass, escalations are due and processes die in tenants that nobody uses now, too. Those that are not open are
 * opened one after the other, have done what is due, and are closed again.
 */
export class Sweep {
  readonly #tenants: OpenTenants;
  readonly #options: SweepOptions;
  readonly #stopped = new AbortController();
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
        if (!this.#tenants.isOpen(name)) await this.#visit(name);
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

  async #visit(name: string): Promise<void> {
    try {
      const use = await this.#tenants.use(name);
      if (use === undefined) return;
      try {
        await use.tenant.engine.work({ once: true });
      } finally {
        use.release();
      }
      // Unless somebody else uses it by now.
      await this.#tenants.retireUnused(name);
    } catch (error) {
      this.#options.onError(error, name);
    }
  }
}
