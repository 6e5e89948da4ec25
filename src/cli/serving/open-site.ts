import type { CloseOptions } from "../../http/node/index.ts";
import type { Runner } from "../../index.ts";
import { listRisks, listStandbys } from "../../stores/index.ts";
import { closeAgents, type LoadedAgents } from "../agents/load-agents.ts";
import { listen } from "./listen.ts";
import { type Opening, openServed, type Served } from "./open-served.ts";
import type { ServeOptions } from "./serve-options.ts";

/** A server that listens. */
export interface ListeningSite {
  readonly url: string;
  readonly port: number;
  /** Takes no more work and finishes what runs. Resolves when nothing runs and the ledger is closed. */
  close(options: Required<CloseOptions>): Promise<void>;
  /** Releases running work to other processes. This process must exit right after. */
  abandon(): Promise<void>;
}

/** Agents on a ledger, behind a server that listens. */
export interface OpenSite extends ListeningSite, Pick<Served, "served" | "broken" | "webhookSecret"> {
  /** The login link, with `--auth local`. */
  readonly loginLink?: string;
  runner(app: string): Runner | undefined;
}

/** No work is claimed before the port is open. */
export async function openSite(
  options: ServeOptions,
  loaded: LoadedAgents,
  opening: Pick<Opening, "log" | "lenient">,
): Promise<OpenSite> {
  const { log } = opening;
  const { engine, app, runners, loginLink, ...site } = await openServed(options, loaded, opening);
  try {
    // Only warnings: the operator decides, and a failed check matters less than the opened ledger.
    for (const risk of await listRisks(options.ledger, options.listenUrl).catch(() => []))
      log.warn({ about: risk.about, advice: risk.advice }, risk.message);
    for (const { name, problem } of await listStandbys(options.ledger, options.readUrl).catch(() => []))
      if (problem !== undefined) log.warn({ standby: name, problem }, "lists cannot be read from a standby");
    const server = await listen(options, app, log);
    const publicUrl = options.publicUrl ?? server.url;
    await site.start(publicUrl);
    const worker = engine.work({ onError: (err) => log.error({ err }, "background work failed") });
    const link = await loginLink?.(publicUrl);
    const { served, broken, webhookSecret } = site;
    return {
      url: server.url,
      port: server.port,
      served,
      broken,
      ...(link === undefined ? {} : { loginLink: link }),
      ...(webhookSecret === undefined ? {} : { webhookSecret }),
      runner: (name) => runners.get(name),
      close: async (how) => {
        await Promise.all([worker.stop(), site.stop(), server.close(how)]);
        await site.close();
        await engine.close();
        await closeAgents(loaded.agents);
      },
      abandon: () => engine.abandon(),
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
