/** The work's outcome, or the signal's reason as soon as it aborts, even if the work itself ignores the signal. */
export async function abortable<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const abort = (): void => resolve(undefined);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    const outcome = await Promise.race([work, aborted]);
    signal.throwIfAborted();
    return outcome as T;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
