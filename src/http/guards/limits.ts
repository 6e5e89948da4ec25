import type { Auth } from "../auth/auth.ts";

/** Limits per caller. */
export interface RequestLimits {
  readonly bodyBytes: number;
  /** From the end of the headers to the end of the body. */
  readonly bodyTimeoutMs: number;
  /** Per principal, or per address without a login, in one process; `Infinity` is no limit. */
  readonly requestsPerMinute: number;
  /** Per address and per token, in one process. */
  readonly failedLoginsPerMinute: number;
}

/** Without logins there is only one principal, so a limit would protect nobody. */
export function requestLimits(auth: Pick<Auth, "name">, given: Partial<RequestLimits> = {}): RequestLimits {
  return {
    bodyBytes: 1_048_576,
    bodyTimeoutMs: 30_000,
    requestsPerMinute: auth.name === "none" ? Infinity : 600,
    failedLoginsPerMinute: 30,
    ...given,
  };
}
