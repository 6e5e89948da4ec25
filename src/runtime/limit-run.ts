import type { RunContext } from "./run-context.ts";

/** How far one run may go before it is stopped. */
export interface RunLimits {
  /** Stops the run when it aborts; leaving the loop alone does not. */
  readonly signal?: AbortSignal;
  /** Stops the run if it is still at work after so long. Waiting for a person is not work. */
  readonly timeoutMs?: number;
}

/** Holds a run to its limits while it is watched. Call what it returns when the watching ends. */
export function limitRun(
  run: RunContext,
  { session, invocation }: { readonly session: string; readonly invocation: string },
  { signal, timeoutMs }: RunLimits,
): () => void {
  const close = run.cancellation.open(invocation);
  const watching = new AbortController();
  const stop = (reason: string): void => {
    run.cancellation.cancel(invocation, reason);
    run.background(
      session,
      run.engine.cancelRun({ session, invocation, reason }).then(() => {}),
    );
  };
  const onAbort = (): void => stop("the caller cancelled the run");
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  if (timeoutMs !== undefined) {
    const expiry = run.sleep(timeoutMs, watching.signal).then(() => {
      if (!watching.signal.aborted) stop(`the run was still at work after ${timeoutMs} ms`);
    });
    // A clock that fails ends no run.
    expiry.catch(() => {});
  }
  return () => {
    watching.abort();
    signal?.removeEventListener("abort", onAbort);
    close();
  };
}
