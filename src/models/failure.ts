import { CountersignError } from "../protocol/index.ts";

/** What is known of a failed request to a provider. */
export interface FailureFacts {
  /** The HTTP status, if the provider answered at all. */
  readonly status?: number | undefined;
  /** Whether the same request may succeed later; judged by the status unless given. */
  readonly retryable?: boolean | undefined;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The error of a failed or interrupted model request: its details say whether a retry may help. */
export function modelFailed(message: string, facts: FailureFacts): CountersignError {
  const { status, retryAfterMs, cause } = facts;
  const retryable = facts.retryable ?? (status !== undefined && isPassing(status));
  return new CountersignError("model-failed", message, {
    details: {
      ...(status !== undefined && { status }),
      retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    cause,
  });
}

/** The wait that a `retry-after-ms` or `retry-after` header asks for: milliseconds, seconds, or a date. */
export function readRetryAfter(
  header: (name: string) => string | undefined,
  now: number,
): number | undefined {
  const ms = Number.parseFloat(header("retry-after-ms") ?? "");
  if (ms >= 0) return ms;
  const text = header("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}
