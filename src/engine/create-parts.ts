import { SlowChecks, storedCallerTool } from "./callers/index.ts";
import { Executions } from "./calls/index.ts";
import { createIds, systemClock, untraced } from "./common/index.ts";
import { type EngineOptions, onceDone, settingsOf, warn, warnOf } from "./engine-options.ts";
import { Definitions, PolicyTexts } from "./gate/index.ts";
import { chainHasher } from "./journal/index.ts";
import { checkSecret, InFlight, SessionQueue } from "./ledger/index.ts";
import type { EngineParts } from "./parts.ts";
import { NO_DIRECTORY } from "./people/index.ts";
import {
  AcknowledgedCommits,
  Lease,
  NoticeWriter,
  Reconciler,
  recoverCall,
  Unstored,
} from "./process/index.ts";
import { Quota, UserOpenLimit } from "./questions/index.ts";

/** Makes what every command of an engine works with. */
export function createParts(
  options: EngineOptions,
  own: Pick<EngineParts, "hosts" | "gaveUp" | "closed" | "takeUp">,
): EngineParts {
  const { ledger, clock = systemClock, newId = createIds(), secret } = options;
  const settings = settingsOf(options);
  const identity = { host: options.hostName ?? "", pid: process.pid };
  const nextId = (): string => newId(clock.now());
  const lease = new Lease({
    ledger,
    clock,
    leaseMs: settings.leaseMs,
    heartbeatMs: settings.heartbeatMs,
    ...identity,
    newOwnerId: nextId,
    onBeat: (owner) => void reconciler.look(owner),
    onNewHistory: (history) => reconciler.newHistory(history),
  });
  const parts: EngineParts = {
    ...own,
    ledger,
    clock,
    newId,
    hasher: chainHasher(secret),
    knownSeal: { k: 0 },
    ...(secret === undefined ? {} : { secret }),
    ...(options.policy === undefined ? {} : { policy: options.policy }),
    directory: typeof options.policy === "object" ? options.policy : NO_DIRECTORY,
    definitions: new Definitions(ledger),
    policyTexts: new PolicyTexts(ledger),
    callers: { tool: (call) => storedCallerTool(parts, call) },
    lease,
    queue: new SessionQueue(),
    inFlight: new InFlight(),
    acknowledged: new AcknowledgedCommits(clock, ledger.volatile ? 0 : undefined),
    settings,
    quota: new Quota(ledger, clock, options.quota),
    userOpenLimit: new UserOpenLimit(ledger, clock),
    slowChecks: new SlowChecks(clock),
    trace: options.trace ?? untraced,
    unstored: new Unstored(options.onError ?? warn),
    ready: onceDone(() => checkSecret(ledger, secret)),
    get executions() {
      return executions;
    },
    recoverLost: async (callId) => {
      // Fences whoever is overdue.
      await ledger.due([], 1);
      const { claimed } = await recoverCall(parts, callId);
      if (claimed !== undefined) executions.start(claimed);
    },
  };
  const executions = new Executions(parts);
  const reconciler = new Reconciler(parts, executions, {
    notify: options.onNotice ?? warnOf,
    writer: new NoticeWriter({ store: ledger.items, now: () => clock.now(), newId: nextId, ...identity }),
  });
  return parts;
}
