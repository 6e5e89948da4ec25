import { hostname } from "node:os";
import { type Channel, createInbound } from "../../channels/index.ts";
import { Engine, type EngineOptions, type Ledger, NOTICE_KINDS } from "../../engine/index.ts";
import { type App, createApp, type Logger, Metrics, type Mount, openTelemetry } from "../../http/index.ts";
import { createLedger, Runner } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type BrokenAgent, brokenError, type LoadedAgent, type LoadedAgents } from "../agents/load-agents.ts";
import { channelNames, createChannels } from "../channels/create-channels.ts";
import { openPolicy, type PolicyListener } from "../policy/open-policy.ts";
import { replayPolicy } from "../policy/replay-policy.ts";
import { openA2a } from "./open-a2a.ts";
import { openAuth } from "./open-auth.ts";
import { openChannels } from "./open-channels.ts";
import { openUpkeep } from "./open-upkeep.ts";
import type { ServeOptions } from "./serve-options.ts";

/** Agents on a ledger as an app. Nobody reaches it yet, and it claims no work. */
export interface Served {
  readonly engine: Engine;
  readonly app: App;
  readonly runners: ReadonlyMap<string, Runner>;
  readonly served: readonly LoadedAgent[];
  readonly broken: readonly BrokenAgent[];
  /** New: the webhook's recipient needs it, and it is not shown again. */
  readonly webhookSecret?: string;
  /** Creates a link that logs in one person, once; only with `--auth local`. */
  readonly loginLink?: (publicUrl: string) => Promise<string>;
  /** Begins to send to channels, to follow the policy's file, and to do what is due on a schedule. */
  start(publicUrl: string): Promise<void>;
  /** Ends what `start` began. */
  stop(): Promise<void>;
  /** Closes the Runners. The engine stays open. */
  close(): Promise<void>;
}

/** How it is opened. */
export interface Opening {
  readonly log: Logger;
  /** If an agent cannot be served, serve the others, if there are any. */
  readonly lenient: boolean;
  /** What the ledger may hold. */
  readonly quota?: EngineOptions["quota"];
  /** Looks at the ledger before anything is written to it; it throws if it is not the right one. */
  readonly check?: (ledger: Ledger) => Promise<void>;
}

/** One engine for all apps: one lease, one worker. */
export async function openServed(
  options: ServeOptions,
  loaded: LoadedAgents,
  { log, lenient, quota, check }: Opening,
): Promise<Served> {
  // First of all: a server without its rules must not start.
  const channels = channelNames(options);
  const followed = options.policy === undefined ? undefined : openPolicy(options.policy, { channels });
  const upkeep = openUpkeep(options);
  const { migrate, listenUrl, readUrl, secret } = options;
  const ledger = await createLedger(options.ledger, {
    migrate,
    ...(listenUrl === undefined ? {} : { listenUrl }),
    ...(readUrl === undefined ? {} : { readUrl }),
  });
  const metrics = newMetrics();
  const engine = new Engine({
    ledger,
    hostName: hostname(),
    ...(secret === undefined ? {} : { secret }),
    ...(quota === undefined ? {} : { quota }),
    ...(followed === undefined ? {} : { policy: followed.policy }),
    trace: openTelemetry,
    onError: (err) => log.error({ err }, "storing the outcome of a call failed"),
    onNotice: ({ kind, message, details }) => {
      log.error({ kind, ...details }, message);
      metrics.add("ledgerNotices", { kind });
    },
  });
  try {
    await check?.(ledger);
    const startUpkeep = await upkeep.prepare(engine);
    const { sending, ...served } = await openOn(engine, { options, loaded, log, metrics, lenient });
    let stop: (() => Promise<void>) | undefined;
    return {
      ...served,
      start: async (publicUrl) => {
        const running = await openChannels(engine, { ...sending, publicUrl, log, metrics });
        followed?.follow(ledger, policyLog(log));
        const stopUpkeep = startUpkeep(log);
        stop = async () => {
          followed?.stop();
          await Promise.all([running.stop(), stopUpkeep()]);
        };
      },
      stop: async () => stop?.(),
    };
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

/** Notices are exported as zero first: Prometheus sees no increase in a series that starts at one. */
function newMetrics(): Metrics {
  const metrics = new Metrics();
  for (const kind of NOTICE_KINDS) metrics.add("ledgerNotices", { kind }, 0);
  return metrics;
}

interface Parts extends Pick<Opening, "log" | "lenient"> {
  readonly options: ServeOptions;
  readonly loaded: LoadedAgents;
  readonly metrics: Metrics;
}

async function openOn(engine: Engine, { options, loaded, log, metrics, lenient }: Parts) {
  // Checked now, not at the first decision: with a wrong secret nothing could be decided here.
  await engine.ready();
  const { runners, served, broken } = await hostAll(engine, loaded);
  if (broken.length > 0 && !(lenient && served.length > 0)) throw brokenError(broken);
  const apps = Object.fromEntries(runners);
  const { publicUrl, allowOrigins } = options;
  const { appOptions, loginLink } = await openAuth(engine, options);
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
    ...appOptions,
  });
  return {
    engine,
    app,
    runners,
    served,
    broken,
    sending: { channels, siem },
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
    ...(loginLink === undefined ? {} : { loginLink }),
    close: async () => {
      for (const runner of runners.values()) await runner.close();
    },
  };
}

/** Where the media of the channels call back and people use their routes, if there are any. */
function entriesOf(engine: Engine, channels: readonly Channel[]): readonly Mount[] {
  const isOpen = channels.some(({ entries, routes }) => entries !== undefined || routes !== undefined);
  return isOpen ? [createInbound(engine, channels)] : [];
}

/** A Runner for every agent, registered as host, so that the worker can continue open work. */
async function hostAll(
  engine: Engine,
  { agents, broken }: LoadedAgents,
): Promise<Pick<Served, "runners" | "served" | "broken">> {
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
