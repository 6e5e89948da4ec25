import { type Channel, createInbound } from "../../channels/index.ts";
import { type Engine, NOTICE_KINDS } from "../../engine/index.ts";
import { createApp, type Logger, Metrics, type Mount, openTelemetry } from "../../http/index.ts";
import { type CloseOptions, serve } from "../../http/node/index.ts";
import { createEngine, createLedger, Runner } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { listRisks } from "../../stores/index.ts";
import {
  type BrokenAgent,
  brokenError,
  closeAgents,
  type LoadedAgent,
  type LoadedAgents,
} from "../agents/load-agents.ts";
import { channelNames, createChannels } from "../channels/create-channels.ts";
import { openPolicy, type PolicyListener } from "../policy/open-policy.ts";
import { replayPolicy } from "../policy/replay-policy.ts";
import { openA2a } from "./open-a2a.ts";
import { openAuth } from "./open-auth.ts";
import { openChannels } from "./open-channels.ts";
import { openUpkeep } from "./open-upkeep.ts";
import type { ServeOptions } from "./serve-options.ts";

/** Agents on a ledger, behind a server that listens. */
export interface OpenSite {
  readonly url: string;
  readonly port: number;
  readonly served: readonly LoadedAgent[];
  readonly broken: readonly BrokenAgent[];
  /** The login link, with `--auth local`. */
  readonly loginLink?: string;
  /** New: the webhook's recipient needs it, and it is not shown again. */
  readonly webhookSecret?: string;
  runner(app: string): Runner | undefined;
  /** Takes no more work and finishes what runs. Resolves when nothing runs and the ledger is closed. */
  close(options: Required<CloseOptions>): Promise<void>;
  /** Releases running work to other processes. This process must exit right after. */
  abandon(): Promise<void>;
}

/** One engine for all apps: one lease, one worker. No work is claimed before the port is open. */
export async function openSite(
  options: ServeOptions,
  loaded: LoadedAgents,
  { log, lenient }: Pick<Opening, "log" | "lenient">,
): Promise<OpenSite> {
  // First of all: a server without its rules must not start.
  const channels = channelNames(options);
  const followed = options.policy === undefined ? undefined : openPolicy(options.policy, { channels });
  const upkeep = openUpkeep(options);
  const { migrate, listenUrl } = options;
  const ledger = await createLedger(options.ledger, {
    migrate,
    ...(listenUrl === undefined ? {} : { listenUrl }),
  });
  const metrics = newMetrics();
  const engine = await createEngine({
    ledger,
    ...(followed === undefined ? {} : { policy: followed.policy }),
    trace: openTelemetry,
    onError: (err) => log.error({ err }, "storing the outcome of a call failed"),
    onNotice: ({ kind, message, details }) => {
      log.error({ kind, ...details }, message);
      metrics.add("ledgerNotices", { kind });
    },
  });
  // Only warnings: the operator decides, and a failed check matters less than the opened ledger.
  for (const risk of await listRisks(options.ledger, listenUrl).catch(() => []))
    log.warn({ about: risk.about, advice: risk.advice }, risk.message);
  try {
    const startUpkeep = await upkeep.prepare(engine);
    const site = await openOn(engine, { options, loaded, log, metrics, lenient });
    followed?.follow(ledger, policyLog(log));
    const stopUpkeep = startUpkeep(log);
    const stop = (): Promise<void> => (followed?.stop(), stopUpkeep());
    return { ...site, close: (how) => stop().then(() => site.close(how)) };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function policyLog(log: Logger): PolicyListener {
  return {
    replaced: (file, version) => log.info({ file, version }, "the policy file was reloaded"),
    broken: (file, problem) =>
      log.error({ file, problem }, "the policy file cannot be used; the previous policy stays in force"),
  };
}

interface Opening {
  readonly options: ServeOptions;
  readonly loaded: LoadedAgents;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** If an agent cannot be served, serve the others, if there are any. */
  readonly lenient: boolean;
}

/** Notices are exported as zero first: Prometheus sees no increase in a series that starts at one. */
function newMetrics(): Metrics {
  const metrics = new Metrics();
  for (const kind of NOTICE_KINDS) metrics.add("ledgerNotices", { kind }, 0);
  return metrics;
}

async function openOn(
  engine: Engine,
  { options, loaded, log, metrics, lenient }: Opening,
): Promise<OpenSite> {
  // Checked now, not at the first decision: with a wrong secret nothing could be decided here.
  await engine.ready();
  const { runners, served, broken } = await hostAll(engine, loaded);
  if (broken.length > 0 && !(lenient && served.length > 0)) throw brokenError(broken);
  const apps = Object.fromEntries(runners);
  const { publicUrl, allowOrigins } = options;
  const auth = await openAuth(engine, options);
  const { channels, siem, newSecret: webhookSecret } = await createChannels(engine.ledger, options);
  const app = createApp({
    apps,
    engine,
    logger: log,
    metrics,
    replay: replayPolicy,
    mounts: [
      ...(served.length === 0 ? [] : await openA2a(apps, options, log)),
      ...entriesOf(engine, channels),
    ],
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(allowOrigins.length === 0 ? {} : { allowOrigins }),
    ...auth.appOptions,
  });
  const server = await listen(options, app, log);
  const deliveries = await openChannels(engine, {
    channels,
    siem,
    publicUrl: publicUrl ?? server.url,
    log,
    metrics,
  });
  const worker = engine.work({ onError: (err) => log.error({ err }, "background work failed") });
  const loginLink = await auth.loginLink?.(publicUrl ?? server.url);
  return {
    url: server.url,
    port: server.port,
    served,
    broken,
    ...(loginLink === undefined ? {} : { loginLink }),
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
    runner: (name) => runners.get(name),
    close: async (how) => {
      await Promise.all([worker.stop(), deliveries.stop(), server.close(how)]);
      for (const runner of runners.values()) await runner.close();
      await engine.close();
      await closeAgents(loaded.agents);
    },
    abandon: () => engine.abandon(),
  };
}

/** Where the media of the channels call back and people use their routes, if there are any. */
function entriesOf(engine: Engine, channels: readonly Channel[]): readonly Mount[] {
  const isOpen = channels.some(({ entries, routes }) => entries !== undefined || routes !== undefined);
  return isOpen ? [createInbound(engine, channels)] : [];
}

interface Hosted {
  readonly runners: ReadonlyMap<string, Runner>;
  readonly served: readonly LoadedAgent[];
  readonly broken: readonly BrokenAgent[];
}

/** A Runner for every agent, registered as host, so that the worker can continue open work. */
async function hostAll(engine: Engine, { agents, broken }: LoadedAgents): Promise<Hosted> {
  const runners = new Map<string, Runner>();
  const served: LoadedAgent[] = [];
  const unusable: BrokenAgent[] = [...broken];
  for (const loaded of agents) {
    try {
      const runner = new Runner({ engine, agent: loaded.agent, app: loaded.app });
      await runner.engine();
      runners.set(loaded.app, runner);
      served.push(loaded);
    } catch (error) {
      if (!CountersignError.isInstance(error)) throw error;
      const { app, file } = loaded;
      unusable.push({ app, file, reason: error.message });
    }
  }
  return { runners, served, broken: unusable };
}

// The server's own words do not know our flags.
async function listen(
  { host, port, trustProxy }: ServeOptions,
  app: ReturnType<typeof createApp>,
  logger: Logger,
): ReturnType<typeof serve> {
  try {
    return await serve({ app, host, port, trustProxy, logger });
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE") throw error;
    throw new CountersignError(
      "invalid-option",
      `Port ${port} on ${host} is in use. Choose another with --port N or COUNTERSIGN_PORT (0 picks a free port).`,
      { details: { field: "port" }, cause: error },
    );
  }
}

function codeOf(error: unknown): string | undefined {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  return cause?.code;
}
