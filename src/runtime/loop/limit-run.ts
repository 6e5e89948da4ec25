import type { RunContext } from "../run-context.ts";
import { activityOf } from "../streaming/index.ts";

/** The limits of one run. */
export interface RunLimits {
  /** Stops the run when it aborts; leaving the loop does not. */
  readonly signal?: AbortSignal;
  /** Stops the run after this time. Waiting for a person does not count. */
  readonly timeoutMs?: number;
}

interface Invocation {
  readonly session: string;
  readonly invocation: string;
}

/** Enforces a run's limits while it is watched. Call the returned function when the watching ends. */
export function limitRun(run: RunContext, about: Invocation, { signal, timeoutMs }: RunLimits): () => void {
  if (signal === undefined && timeoutMs === undefined) return () => {};
  const close = run.cancellation.open(about.invocation);
  const watching = new AbortController();
  const onAbort = (): void => {
    run.background.add(about.session, stop(run, about, ["cancelled", "The caller cancelled the run."]));
  };
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  if (timeoutMs !== undefined) {
    // A failure here does not change the run; the ledger has its state.
    stopInTime(run, about, { timeoutMs, watching: watching.signal }).catch(() => {});
  }
  return () => {
    watching.abort();
    signal?.removeEventListener("abort", onAbort);
    close();
  };
}

async function stopInTime(
  run: RunContext,
  about: Invocation,
  { timeoutMs, watching }: { readonly timeoutMs: number; readonly watching: AbortSignal },
): Promise<void> {
  for (;;) {
    await run.sleepInBackground(timeoutMs, watching);
    if (watching.aborted) return;
    const { state } = await activityOf(run.engine.ledger, about.session, about.invocation);
    if (state === "active") break;
  }
  const why = `The run timed out after ${timeoutMs} ms.`;
  run.background.add(about.session, stop(run, about, ["timed-out", why]));
}

// Cancel in the ledger first: what the stopped steps then do has no effect.
async function stop(
  run: RunContext,
  about: Invocation,
  [errorCode, reason]: readonly [string, string],
): Promise<void> {
  try {
    await run.engine.cancelRun({ ...about, reason, errorCode });
  } finally {
    run.cancellation.cancel(about.invocation, reason);
  }
}
