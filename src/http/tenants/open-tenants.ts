import type { Engine, Worker } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { App } from "../app.ts";

/** A tenant that is open. */
export interface OpenTenant {
  /** On the tenant's own ledger, with its own secret and policy. It is closed with the tenant. */
  readonly engine: Engine;
  /** From `createApp({ engine, … })`. */
  readonly app: App;
  /** Ends what else was started for it, before its engine is closed. */
  close?(): Promise<void>;
}

/** Opens a tenant; undefined if there is none of this name. */
export type TenantFactory = (tenant: string) => Promise<OpenTenant | undefined>;

/** A tenant that stays open until it is released. */
export interface Use {
  readonly tenant: OpenTenant;
  readonly release: () => void;
}

interface Slot {
  readonly name: string;
  readonly opened: Promise<Opened | undefined>;
  uses: number;
  timer?: NodeJS.Timeout;
}

interface Opened extends OpenTenant {
  readonly worker: Worker;
}

/**
 * The tenants that are open: each once, no more than a number of them, closed when nobody has used them for a while. The
 * one that is closed to make room is the one that was unused for the longest time.
 */
export class OpenTenants {
  readonly #open: TenantFactory;
  readonly #most: number;
  readonly #idleMs: number;
  readonly #onError: (error: unknown, tenant: string) => void;
  /** Least recently used first. */
  readonly #slots = new Map<string, Slot>();
  /** They finish what runs; their tenants may be open again meanwhile, as in another process. */
  readonly #closing = new Set<Promise<void>>();
  /** Which tenant has which ledger: two tenants must not share one. */
  readonly #owners = new Map<string, string>();
  #isClosed = false;

  constructor(
    open: TenantFactory,
    limits: {
      readonly most: number;
      readonly idleMs: number;
      readonly onError: (error: unknown, tenant: string) => void;
    },
  ) {
    this.#open = open;
    this.#most = limits.most;
    this.#idleMs = limits.idleMs;
    this.#onError = limits.onError;
  }

  isOpen(name: string): boolean {
    return this.#slots.has(name);
  }

  /** The tenant, open until it is released; undefined if there is none. Throws `ledger-busy` where there is no room. */
  async use(name: string): Promise<Use | undefined> {
    if (this.#isClosed) throw new CountersignError("closed", "This process is shutting down.");
    const slot = this.#slots.get(name) ?? { name, uses: 0, opened: this.#openOne(name) };
    // Last in the order: most recently used.
    this.#slots.delete(name);
    this.#slots.set(name, slot);
    clearTimeout(slot.timer);
    slot.uses += 1;
    try {
      const tenant = await slot.opened;
      if (tenant === undefined) {
        this.#forget(slot);
        return undefined;
      }
      return { tenant, release: once(() => this.#release(slot)) };
    } catch (error) {
      this.#forget(slot);
      throw error;
    }
  }

  /** Closes a tenant when nobody uses it any more; whoever needs it next opens it anew. */
  async retire(name: string): Promise<void> {
    const slot = this.#slots.get(name);
    if (slot === undefined) return;
    this.#forget(slot);
    if (slot.uses === 0) await this.#close(slot);
  }

  /** Closes a tenant that nobody uses now. */
  async retireUnused(name: string): Promise<void> {
    if (this.#slots.get(name)?.uses === 0) await this.retire(name);
  }

  each(visit: (tenant: OpenTenant) => void): void {
    for (const { opened } of this.#slots.values())
      opened.then(
        (tenant) => tenant && visit(tenant),
        () => {},
      );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const slots = [...this.#slots.values()];
    for (const slot of slots) this.#forget(slot);
    await Promise.all([...slots.map((slot) => this.#close(slot)), ...this.#closing]);
  }

  async #openOne(name: string): Promise<Opened | undefined> {
    const tenant = await this.#open(name);
    if (tenant === undefined) return undefined;
    try {
      this.#own(name, tenant);
      // Only now: whoever makes up names must not push out others.
      this.#makeRoom();
    } catch (error) {
      await tenant.close?.();
      await tenant.engine.close();
      throw error;
    }
    const worker = tenant.engine.work({ onError: (error) => this.#onError(error, name) });
    return { ...tenant, worker };
  }

  /** A ledger's digest key is its own. */
  #own(name: string, { engine }: OpenTenant): void {
    const key = Buffer.from(engine.ledger.digestKey).toString("hex");
    const owner = this.#owners.get(key) ?? name;
    if (owner !== name)
      throw new CountersignError(
        "invalid-option",
        `The tenants "${owner}" and "${name}" have the same ledger.`,
      );
    this.#owners.set(key, name);
  }

  #makeRoom(): void {
    if (this.#slots.size <= this.#most) return;
    const unused = [...this.#slots.values()].find(({ uses }) => uses === 0);
    if (unused === undefined) {
      throw new CountersignError("ledger-busy", `All ${this.#most} open tenants are in use. Try again.`);
    }
    this.#forget(unused);
    this.#close(unused).catch(() => {});
  }

  #release(slot: Slot): void {
    slot.uses -= 1;
    if (slot.uses > 0) return;
    if (this.#slots.get(slot.name) === slot) {
      slot.timer = setTimeout(() => void this.retire(slot.name), this.#idleMs).unref();
    } else this.#close(slot).catch(() => {});
  }

  #forget(slot: Slot): void {
    clearTimeout(slot.timer);
    if (this.#slots.get(slot.name) === slot) this.#slots.delete(slot.name);
  }

  #close(slot: Slot): Promise<void> {
    const closing = closeTenant(slot)
      .catch((error: unknown) => this.#onError(error, slot.name))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    return closing;
  }
}

async function closeTenant({ opened }: Slot): Promise<void> {
  const tenant = await opened.catch(() => undefined);
  if (tenant === undefined) return;
  tenant.app.drain();
  await tenant.worker.stop();
  await tenant.close?.();
  await tenant.engine.close();
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
