import type { Engine } from "../../engine/index.ts";
import {
  byHost,
  createTenants,
  type Logger,
  type OpenTenant,
  type TenantRecord,
  type TenantRegistry,
} from "../../http/index.ts";
import { brokenError, closeAgents, type LoadedAgents } from "../agents/load-agents.ts";
import { assertExists, assertOwned } from "../tenants/own-ledger.ts";
import { openRegistry } from "../tenants/registry.ts";
import type { TenantsOptions } from "../tenants/tenant-options.ts";
import { listen } from "./listen.ts";
import { type Opening, openServed } from "./open-served.ts";
import type { ListeningSite } from "./open-site.ts";
import type { ListenOptions } from "./serve-options.ts";

/** How the process listens, and whose tenants it serves. */
interface Options extends ListenOptions {
  readonly tenants: TenantsOptions;
}

/** The same agents for every active tenant of a registry, each on its own ledger, behind a server that listens. */
export async function openTenants(
  options: Options,
  loaded: LoadedAgents,
  opening: Pick<Opening, "log" | "lenient">,
): Promise<ListeningSite> {
  if (loaded.broken.length > 0 && !(opening.lenient && loaded.agents.length > 0))
    throw brokenError(loaded.broken);
  const { log } = opening;
  const { engine, registry } = await openRegistry(options.tenants.registry, { make: options.migrate });
  const engines = new Set<Engine>();
  const tenants = createTenants({
    registry,
    tenantOf: byHost(options.tenants.hosts),
    open: async (_name, tenant) =>
      tenant && openTenant(tenant, { options, loaded, opening, registry, engines }),
    onError: (err, tenant) => log.error({ err, tenant }, "work of a tenant failed"),
  });
  const closeAll = async (): Promise<void> => {
    await tenants.close();
    await engine.close();
    await closeAgents(loaded.agents);
  };
  try {
    const server = await listen(options, tenants, log);
    return {
      url: server.url,
      port: server.port,
      close: async (how) => {
        await server.close(how);
        await closeAll();
      },
      abandon: async () => void (await Promise.all([...engines].map((each) => each.abandon()))),
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

interface Around {
  readonly options: Options;
  readonly loaded: LoadedAgents;
  readonly opening: Pick<Opening, "log" | "lenient">;
  readonly registry: TenantRegistry;
  /** Those that are open. */
  readonly engines: Set<Engine>;
}

/** Its settings are read each time that it is opened. One that is suspended sends nothing. */
async function openTenant(tenant: TenantRecord, around: Around): Promise<OpenTenant> {
  const { options, loaded, registry, engines } = around;
  const { name, ledger: url, limits: quota, state } = tenant;
  const settings = options.tenants.of(tenant);
  await assertExists(url);
  const served = await openServed(settings, loaded, {
    lenient: around.opening.lenient,
    log: logOf(around.opening.log, name),
    quota,
    check: (ledger) => assertOwned(ledger, { registry, name }, url),
  });
  const { engine, app } = served;
  engines.add(engine);
  const close = async (): Promise<void> => {
    await served.stop();
    await served.close();
    engines.delete(engine);
  };
  try {
    if (state === "active") await served.start(settings.publicUrl);
    return { engine, app, close };
  } catch (error) {
    await close();
    await engine.close();
    throw error;
  }
}

/** Each line says of which tenant it is. */
function logOf(log: Logger, tenant: string): Logger {
  return {
    debug: (about, message) => log.debug?.({ tenant, ...about }, message),
    info: (about, message) => log.info({ tenant, ...about }, message),
    warn: (about, message) => log.warn({ tenant, ...about }, message),
    error: (about, message) => log.error({ tenant, ...about }, message),
  };
}
