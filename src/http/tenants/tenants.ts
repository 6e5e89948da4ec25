import type { TenantRegistry } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { App } from "../app.ts";
import type { RequestBindings } from "../env.ts";
import { isEventStream } from "../event-stream.ts";
import { isForOperator, problemResponse } from "../problems.ts";
import { whenEnded } from "./ended.ts";
import { OpenTenants, type TenantFactory, type Use } from "./open-tenants.ts";
import { RegisteredTenants } from "./registered.ts";
import { kindOf } from "./request-kind.ts";
import { Sweep } from "./sweep.ts";

/** Options of {@link createTenants}. */
export interface TenantsOptions {
  /** Which tenant a request is for; undefined if it is for none. See {@link byHost}, {@link byPath} and {@link byToken}. */
  readonly tenantOf: (request: Request) => string | undefined;
  /**
   * Opens a tenant: an engine on a ledger of its own, and the app that serves it. Undefined if there is no such tenant;
   * throw `forbidden` for one that is suspended. It is called again when the tenant was closed in the meantime.
   */
  readonly open: TenantFactory;
  /**
   * Where tenants are created, suspended and erased. Only active ones are opened; one that is suspended or changed is closed
   * at once, in every process. Of a suspended one only reports on calls that run are served. Close the registry's engine after this.
   */
  readonly registry?: TenantRegistry;
  /** All tenants; default: those of the registry. What is due in those that are not open (deadlines, escalations, recovery) is done from time to time. */
  readonly names?: () => Iterable<string> | Promise<Iterable<string>>;
  /** How many may be open at once. Default: 100. */
  readonly mostOpen?: number;
  /** A tenant that nobody used for this long is closed. Default: 5 minutes. */
  readonly idleMs?: number;
  /** How often each tenant that is not open is looked at. Default: 1 minute. */
  readonly sweepMs?: number;
  /** Told of errors that no request gets, or whose details no request gets. */
  readonly onError?: (error: unknown, tenant: string) => void;
}

/** Many tenants behind one server. */
export interface Tenants extends App {
  /** Closes a tenant, if it is open, so that its settings are read again. Requests that run are finished first. */
  reopen(tenant: string): Promise<void>;
  /** Finishes what runs, and closes all ledgers. */
  close(): Promise<void>;
}

const DEFAULT_MOST_OPEN = 100;
const DEFAULT_IDLE_MS = 300_000;
const DEFAULT_SWEEP_MS = 60_000;
/** One suspended tenant may be open for this many others. */
const SUSPENDED_SHARE = 10;

/**
 * Serves many tenants from one process. Each has an engine and a ledger of its own, so that nothing that is asked of one
 * can read or change another. Tenants are opened when they are needed, and closed when they are idle.
 */
export function createTenants(options: TenantsOptions): Tenants {
  const { tenantOf, registry, onError = () => {} } = options;
  const registered = registry && new RegisteredTenants(registry, options.open);
  const names = options.names ?? (registered && (() => registered.names()));
  const most = options.mostOpen ?? DEFAULT_MOST_OPEN;
  const limits = { most, idleMs: options.idleMs ?? DEFAULT_IDLE_MS, works: true, onError };
  const tenants = new OpenTenants(
    registered === undefined ? options.open : (name) => registered.open(name),
    limits,
  );
  const suspended =
    registered &&
    new OpenTenants((name) => registered.openSuspended(name), {
      ...limits,
      most: Math.ceil(most / SUSPENDED_SHARE),
      works: false,
    });
  const all = [tenants, suspended].filter((some) => some !== undefined);
  const retire = async (tenant: string): Promise<void> => {
    await Promise.all(all.map((some) => some.retire(tenant)));
  };
  const sweep =
    names === undefined
      ? undefined
      : new Sweep(tenants, { names, everyMs: options.sweepMs ?? DEFAULT_SWEEP_MS, onError });
  const unwatch = registered?.watch({ retire, onError });
  let isLeaving = false;
  return {
    fetch: async (request, bindings) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/healthz") return Response.json({ status: "ok" });
      if (pathname === "/readyz" && !isLeaving) return Response.json({ status: "ok" });
      const name = tenantOf(request);
      try {
        if (pathname === "/readyz") throw new CountersignError("closed", "This process is shutting down.");
        const use = await useFor(request, name, { tenants, suspended });
        return await answer(use, { request, bindings });
      } catch (error) {
        if (isForOperator(error)) onError(error, name ?? "");
        return problemResponse(error);
      }
    },
    leave: () => {
      isLeaving = true;
      for (const some of all) some.each(({ app }) => app.leave());
    },
    drain: () => {
      isLeaving = true;
      for (const some of all) some.each(({ app }) => app.drain());
    },
    reopen: retire,
    close: async () => {
      unwatch?.();
      await sweep?.stop();
      await Promise.all(all.map((some) => some.close()));
    },
  };
}

/** A suspended tenant is used only to report on a call that runs: what its caller has done must not be lost. */
async function useFor(
  request: Request,
  name: string | undefined,
  { tenants, suspended }: { readonly tenants: OpenTenants; readonly suspended: OpenTenants | undefined },
): Promise<Use | undefined> {
  if (name === undefined) return undefined;
  try {
    return await tenants.use(name);
  } catch (error) {
    const isSuspended = CountersignError.isInstance(error) && error.code === "suspended";
    if (!isSuspended || suspended === undefined || kindOf(request) !== "reporting") throw error;
    return suspended.use(name);
  }
}

async function answer(
  use: Use | undefined,
  { request, bindings }: { readonly request: Request; readonly bindings: RequestBindings | undefined },
): Promise<Response> {
  if (use === undefined) throw new CountersignError("unknown-route", "No tenant is served here.");
  try {
    const { app, requests } = use.tenant;
    const takeShared: RequestBindings["takeShared"] = (sender) =>
      requests?.take(sender === "known" ? kindOf(request) : sender) ?? 0;
    const response = await app.fetch(request, { ...bindings, takeShared });
    // A stream uses the tenant until its last byte; everything else is complete.
    if (isEventStream(response)) return whenEnded(response, use.release);
    use.release();
    return response;
  } catch (error) {
    use.release();
    throw error;
  }
}
