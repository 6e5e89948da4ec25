import { CountersignError } from "../../protocol/index.ts";

/** The result of the work; rejects with `closed` if the signal aborts first. Leaves no listener behind. */
export async function unlessClosed<T>(closed: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onClosed = (): void => {
    reject(new CountersignError("closed", "The engine was closed while this call waited."));
  };
  if (closed.aborted) onClosed();
  else closed.addEventListener("abort", onClosed, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    closed.removeEventListener("abort", onClosed);
  }
}
