import type { Engine, TenantLimits, TenantRecord, Worker } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { App } from "../app.ts";
import { TokenBuckets } from "../guards/token-buckets.ts";

/** A tenant that is open. */
export interface OpenTenant {
  /** On the tenant's own ledger, with its own secret and policy. It is closed with the tenant. */
  readonly engine: Engine;
  /** From `createApp({ engine, … })`. */
  readonly app: App;
  /** What it may use. Default: what the registry says. */
  readonly limits?: TenantLimits;
  /** Ends what else was started for it, before its engine is closed. */
  close?(): Promise<void>;
}

/** Opens a tenant; undefined if there is none of this name. With a registry, it gets what that says of the tenant. */
export type TenantFactory = (tenant: string, registered?: TenantRecord) => Promise<OpenTenant | undefined>;

/** A tenant that stays open until it is released. */
export interface Use {
  readonly tenant: Opened;
  readonly release: () => void;
}

interface Slot {
  readonly name: string;
  readonly opened: Promise<Opened | undefined>;
  /** It has a ledger open: names that do not exist take no room. */
  isOpen: boolean;
  uses: number;
  timer?: NodeJS.Timeout;
  closing?: Promise<void>;
  /** Called when nobody uses it any more. */
  onUnused?: () => void;
}

interface Opened extends OpenTenant {
  readonly worker?: Worker;
  /** All requests of the tenant, whoever sends them; those of each kind, and those without a login, by themselves. */
  readonly requests?: TokenBuckets;
}

/** How long a tenant that is being closed waits for its requests. */
const GRACE_MS = 10_000;

/**
 * The tenants that are open: each once, no more than a number of them, closed when nobody has used them for a while. The
 * one that is closed to make room is the one that was unused for the longest time.
 */
export class OpenTenants {
  readonly #open: TenantFactory;
  readonly #most: number;
  readonly #idleMs: number;
  readonly #works: boolean;
  readonly #onError: (error: unknown, tenant: string) => void;
  /** Least recently used first. */
  readonly #slots = new Map<string, Slot>();
  /** They finish what runs; their tenants may be open again meanwhile, as in another process. */
  readonly #closing = new Set<Slot>();
  /** What every tenant is told, those that are opened later too. */
  readonly #visits: ((tenant: OpenTenant) => void)[] = [];
  /** Which tenant has which ledger: two tenants must not share one. */
  readonly #owners = new Map<string, string>();
  #isClosed = false;

  constructor(
    open: TenantFactory,
    limits: {
      readonly most: number;
      readonly idleMs: number;
      /** False: what is due in them is not done. */
      readonly works: boolean;
      readonly onError: (error: unknown, tenant: string) => void;
    },
  ) {
    this.#open = open;
    this.#most = limits.most;
    this.#idleMs = limits.idleMs;
    this.#works = limits.works;
    this.#onError = limits.onError;
  }

  isOpen(name: string): boolean {
    return this.#slots.has(name);
  }

  /** The tenant, open until it is released; undefined if there is none. Throws `ledger-busy` where there is no room. */
  async use(name: string): Promise<Use | undefined> {
    if (this.#isClosed) throw new CountersignError("closed", "This process is shutting down.");
    const slot = this.#slots.get(name) ?? this.#newSlot(name);
    // Last in the order: most recently used.
    this.#slots.delete(name);
    this.#slots.set(name, slot);
    clearTimeout(slot.timer);
    slot.uses += 1;
    try {
      const tenant = await slot.opened;
      if (tenant !== undefined) return { tenant, release: once(() => this.#release(slot)) };
    } catch (error) {
      this.#forget(slot);
      throw error;
    }
    this.#forget(slot);
    return undefined;
  }

  /**
   * Closes a tenant: its streams end, it takes no new work, and it is closed when its requests have ended. Whoever needs it
   * next opens it anew.
   */
  async retire(name: string): Promise<void> {
    // Its ledger may become another tenant's.
    for (const [key, owner] of this.#owners) if (owner === name) this.#owners.delete(key);
    const slot = this.#slots.get(name);
    if (slot !== undefined) await this.#close(slot);
  }

  each(visit: (tenant: OpenTenant) => void): void {
    this.#visits.push(visit);
    for (const { opened } of [...this.#slots.values(), ...this.#closing])
      opened.then(
        (tenant) => tenant && visit(tenant),
        () => {},
      );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#slots.values(), ...this.#closing].map((slot) => this.#close(slot)));
  }

  #newSlot(name: string): Slot {
    const slot: Slot = {
      name,
      isOpen: false,
      uses: 0,
      opened: this.#openOne(name, () => (slot.isOpen = true)),
    };
    return slot;
  }

  async #openOne(name: string, onOpened: () => void): Promise<Opened | undefined> {
    const tenant = await this.#open(name);
    if (tenant === undefined) return undefined;
    try {
      this.#own(name, tenant);
      // Only now: whoever makes up names must not push out others.
      await this.#takeRoom(onOpened);
    } catch (error) {
      await tenant.close?.();
      await tenant.engine.close();
      throw error;
    }
    for (const visit of this.#visits) visit(tenant);
    const onError = (error: unknown): void => this.#onError(error, name);
    const worker = this.#works ? { worker: tenant.engine.work({ onError }) } : {};
    const perMinute = tenant.limits?.requestsPerMinute;
    if (perMinute === undefined) return { ...tenant, ...worker };
    return { ...tenant, ...worker, requests: newBuckets(perMinute) };
  }

  /** A ledger's digest key is its own. */
  #own(name: string, { engine }: OpenTenant): void {
    const key = Buffer.from(engine.ledger.digestKey).toString("hex");
    const owner = this.#owners.get(key) ?? name;
    if (owner !== name) {
      throw new CountersignError(
        "invalid-option",
        `The tenants "${owner}" and "${name}" have the same ledger.`,
      );
    }
    this.#owners.set(key, name);
  }

  /**
   * Waits until there is room, and takes it. One that is closing has its ledger open until what runs in it has ended; it is
   * waited for, but not for long: up to as many again may be closing.
   */
  async #takeRoom(take: () => void): Promise<void> {
    const late = AbortSignal.timeout(GRACE_MS);
    for (let hasClosed = false; ; ) {
      const open = [...this.#slots.values()].filter(({ isOpen }) => isOpen);
      const most = late.aborted ? 2 * this.#most : this.#most;
      if (open.length + this.#closing.size < most && open.length < this.#most) return take();
      const unused = open.find(({ uses }) => uses === 0);
      if (unused !== undefined && (!hasClosed || this.#closing.size === 0)) {
        hasClosed = true;
        this.#close(unused).catch(() => {});
      }
      if (this.#closing.size === 0 || late.aborted) {
        throw new CountersignError("ledger-busy", `All ${this.#most} open tenants are in use. Try again.`);
      }
      await Promise.race([...[...this.#closing].map(({ closing }) => closing), aborted(late)]);
    }
  }

  #release(slot: Slot): void {
    slot.uses -= 1;
    if (slot.uses > 0) return;
    slot.onUnused?.();
    if (slot.closing === undefined)
      slot.timer = setTimeout(() => void this.#close(slot), this.#idleMs).unref();
  }

  #forget(slot: Slot): void {
    clearTimeout(slot.timer);
    if (this.#slots.get(slot.name) === slot) this.#slots.delete(slot.name);
  }

  #close(slot: Slot): Promise<void> {
    this.#forget(slot);
    slot.closing ??= this.#closeOnce(slot);
    return slot.closing;
  }

  async #closeOnce(slot: Slot): Promise<void> {
    this.#closing.add(slot);
    try {
      await closeTenant(slot);
    } catch (error) {
      this.#onError(error, slot.name);
    } finally {
      this.#closing.delete(slot);
    }
  }
}

async function closeTenant(slot: Slot): Promise<void> {
  const tenant = await slot.opened.catch(() => undefined);
  if (tenant === undefined) return;
  tenant.app.drain();
  await tenant.worker?.stop();
  if (slot.uses > 0) {
    const { promise, resolve } = Promise.withResolvers<void>();
    slot.onUnused = resolve;
    const timer = setTimeout(resolve, GRACE_MS);
    await promise;
    clearTimeout(timer);
  }
  await tenant.close?.();
  await tenant.engine.close();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}

/** A tenant that was quiet must not hold the others up for as long as a minute's requests take. */
const MOST_AT_ONCE = 300;

function newBuckets(perMinute: number): TokenBuckets {
  return new TokenBuckets(perMinute, () => performance.now(), Math.min(perMinute, MOST_AT_ONCE));
}
