import type { Auth } from "../auth/auth.ts";

/** What one caller may take of a server. */
export interface RequestLimits {
  readonly bodyBytes: number;
  /** From the end of the headers to the end of the body. */
  readonly bodyTimeoutMs: number;
  /** Of one principal, or of one address that has not said who it is, on one process; `Infinity` is no limit. */
  readonly requestsPerMinute: number;
  /** Of one address, and with one token, on one process. */
  readonly failedLoginsPerMinute: number;
}

/** Where nobody logs in there is one principal, and nobody whom it could take anything from. */
export function requestLimits(auth: Pick<Auth, "name">, given: Partial<RequestLimits> = {}): RequestLimits {
  return {
    bodyBytes: 1_048_576,
    bodyTimeoutMs: 30_000,
    requestsPerMinute: auth.name === "none" ? Infinity : 600,
    failedLoginsPerMinute: 30,
    ...given,
  };
}
