import { setTimeout as sleep } from "node:timers/promises";
import { suspendedError, type TenantRecord, type TenantRegistry } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { OpenTenant, TenantFactory } from "./open-tenants.ts";

const READ_AGAIN_MS = 1_000;

/** What has to be told to close a tenant, and where errors go. */
export interface WatchOptions {
  readonly retire: (tenant: string) => Promise<void>;
  readonly onError: (error: unknown, tenant: string) => void;
}

/**
 * The tenants of a registry, each with what the registry says of it. Only active ones are opened, and suspended ones for
 * reports on what runs; one that is changed there is closed here, and opened anew by whoever needs it.
 */
export class RegisteredTenants {
  readonly #registry: TenantRegistry;
  readonly #open: TenantFactory;
  /** As they were when they were opened. */
  readonly #versions = new Map<string, number>();

  constructor(registry: TenantRegistry, open: TenantFactory) {
    this.#registry = registry;
    this.#open = open;
  }

  async open(name: string): Promise<OpenTenant | undefined> {
    const tenant = await this.#registry.find(name);
    if (tenant === undefined || !isServed(tenant)) return undefined;
    if (tenant.state !== "active") throw suspendedError(name);
    return this.#openAs(tenant);
  }

  /** Opens one that is suspended: what runs in it may end. */
  async openSuspended(name: string): Promise<OpenTenant | undefined> {
    const tenant = await this.#registry.find(name);
    return tenant === undefined || !isServed(tenant) ? undefined : this.#openAs(tenant);
  }

  async #openAs(tenant: TenantRecord): Promise<OpenTenant | undefined> {
    const { name } = tenant;
    // Before it is opened: a change that comes meanwhile finds it here.
    this.#versions.set(name, tenant.version);
    const opened = await this.#open(name, tenant);
    return opened && { limits: tenant.limits, ...opened };
  }

  async names(): Promise<readonly string[]> {
    const all = await this.#registry.all();
    return all.filter(({ state }) => state === "active").map(({ name }) => name);
  }

  /** Closes tenants that are changed in the registry, until it is told to end. */
  watch(options: WatchOptions): () => void {
    const stopped = new AbortController();
    let reading: Promise<void> | undefined;
    let isChanged = false;
    const read = async (): Promise<void> => {
      while (isChanged && !stopped.signal.aborted) {
        isChanged = false;
        await this.#closeChanged(options, stopped.signal);
      }
    };
    const unsubscribe = this.#registry.onChange(() => {
      isChanged = true;
      reading ??= read().finally(() => {
        reading = undefined;
      });
    });
    return () => {
      stopped.abort();
      unsubscribe();
    };
  }

  /** Until it could be read: whoever was suspended must not stay open. */
  async #closeChanged({ retire, onError }: WatchOptions, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const found = new Map((await this.#registry.all()).map(({ name, version }) => [name, version]));
        for (const [name, version] of this.#versions) {
          if (found.get(name) === version) continue;
          this.#versions.delete(name);
          retire(name).catch((error: unknown) => onError(error, name));
        }
        return;
      } catch (error) {
        if (CountersignError.isInstance(error) && error.code === "closed") return;
        onError(error, "");
        await sleep(READ_AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }
}

/** To others there is no such tenant yet, or none any more. */
function isServed({ state }: TenantRecord): boolean {
  return state !== "creating" && state !== "erasing" && state !== "erased";
}
