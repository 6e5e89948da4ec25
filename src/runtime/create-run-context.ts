import { type Clock, createIds, Engine, type NewId, partsOf, rulesAt, systemClock } from "../engine/index.ts";
import { readAgentTree } from "./agents/index.ts";
import { SessionNames } from "./history/index.ts";
import { Background, Cancellation } from "./loop/index.ts";
import { RequestHeaders } from "./messages/index.ts";
import type { RunContext } from "./run-context.ts";
import type { RunnerOptions } from "./runner-options.ts";
import { createRuntimeHost } from "./runtime-host.ts";
import { RunFeed } from "./streaming/index.ts";

const DEFAULT_MODEL_CALLS = 500;
const DEFAULT_MODEL_BYTES = 4 * 1_048_576;
const DEFAULT_MODEL_TIMEOUT_MS = 10 * 60_000;

/** Opens the ledger, creates the engine and registers the app as hosted here. */
export async function createRunContext(
  app: string,
  options: RunnerOptions,
  { closing, closed }: Pick<RunContext, "closing" | "closed">,
): Promise<RunContext> {
  const { agent, models, policy, clock = systemClock, newId = createIds(), maxModelCalls } = options;
  const engine = options.engine ?? (await openEngine(options, { clock, newId }));
  const parts = partsOf(engine);
  // The Runner's own engine already has the policy.
  const own = options.engine === undefined ? undefined : policy;
  const agents = readAgentTree(agent);
  const run: RunContext = {
    app,
    engine,
    parts,
    agents,
    hooks: options,
    rules: rulesAt(parts, "runner", own),
    remoteRules: rulesAt(parts, "remote", own),
    models,
    feed: new RunFeed(),
    names: new SessionNames(engine.ledger),
    requestHeaders: new RequestHeaders(agents, () => clock.now()),
    settings: {
      maxModelCalls: maxModelCalls ?? DEFAULT_MODEL_CALLS,
      maxModelBytes: options.maxModelBytes ?? DEFAULT_MODEL_BYTES,
      modelTimeoutMs: options.modelTimeoutMs ?? DEFAULT_MODEL_TIMEOUT_MS,
    },
    cancellation: new Cancellation(),
    background: new Background(),
    closing,
    closed,
    newId: () => newId(clock.now()),
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    sleepInBackground: (ms, signal) => clock.sleepInBackground(ms, signal),
    after: (ms, then) => clock.after(ms, then),
    hold: () => clock.hold(),
  };
  engine.host(createRuntimeHost(run));
  return run;
}

async function openEngine(
  options: RunnerOptions,
  made: { readonly clock: Clock; readonly newId: NewId },
): Promise<Engine> {
  const { ledger } = options;
  const opened = typeof ledger === "function" ? await ledger() : ledger;
  return new Engine({ ...engineOptions(options), ledger: opened, ...made });
}

function engineOptions({
  secret,
  hostName,
  policy,
  leaseMs,
  heartbeatMs,
  storeWithinMs,
  closeWithinMs,
  maxOpen,
  maxRounds,
  maxLostAttempts,
  maxResultBytes,
  maxSessionBytes,
  maxStateBytes,
  trace,
  onError,
  onNotice,
}: RunnerOptions): object {
  const process = {
    secret,
    hostName,
    policy,
    leaseMs,
    heartbeatMs,
    storeWithinMs,
    closeWithinMs,
    trace,
    onError,
    onNotice,
  };
  const given = {
    ...process,
    maxOpen,
    maxRounds,
    maxLostAttempts,
    maxResultBytes,
    maxSessionBytes,
    maxStateBytes,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
