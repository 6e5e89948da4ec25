import type { Told } from "./channel.ts";

/** One recipient who was not reached. */
export type Failure = Exclude<Told, { readonly ok: true }>;

/** How sending to one recipient ended. `isUnsure`: it may have arrived. */
export type Sent = { readonly ok: true } | (Failure & { readonly isUnsure: boolean });

/** The time of an attempt is over before a recipient's turn: nothing was begun. */
export const OUT_OF_TIME: Failure = { ok: false, reason: "There was no time left to send it." };

/** It delays nothing else: the medium works. Many notices can wait for one digest. */
export const BEING_SENT: Failure = { ok: false, reason: "Another process is sending it.", isolated: true };

/** What became of a notice to several recipients. It is final only if another attempt makes sense for no recipient. */
export function combinedFailures(failures: readonly Failure[]): Told {
  const [first] = failures;
  if (first === undefined) return { ok: true };
  const temporary = failures.filter(({ final }) => final === undefined);
  const reason = [...new Set(failures.map((failure) => failure.reason))].join(" ");
  if (temporary.length === 0) return { ok: false, reason, final: true };
  const waits = temporary.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  return {
    ok: false,
    reason,
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) }),
    ...(temporary.every(({ isolated }) => isolated === true) ? { isolated: true } : {}),
  };
}

/** Why a request had no answer, for the operator. Says nothing of the address, which may contain a secret. */
export function unreached(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "did not answer in time";
  const { cause } = error instanceof Error ? error : { cause: undefined };
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
  return `could not be reached (${code})`;
}
