import { CountersignError } from "../../protocol/index.ts";

/** The result of the work; rejects with `closed` if the signal aborts first. Leaves no listener behind. */
export function unlessClosed<T>(closed: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onClosed = (): void => {
      reject(new CountersignError("closed", "The engine was closed while this call waited."));
    };
    const forget = (): void => closed.removeEventListener("abort", onClosed);
    if (closed.aborted) onClosed();
    else closed.addEventListener("abort", onClosed, { once: true });
    work.then(forget, forget);
    work.then(resolve, reject);
  });
}
