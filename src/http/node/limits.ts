/** Limits per client. Each can be set. */
export interface ServerLimits {
  /** From the first byte of a request, or of a connection, to the end of its headers. */
  readonly headersMs: number;
  /** From its first byte to the end of its body. */
  readonly requestMs: number;
  /**
   * How long an idle connection stays open. Must be longer than that of the proxies in front, or they lose requests.
   */
  readonly idleMs: number;
  /** How long a client may read nothing of a waiting answer. */
  readonly stalledMs: number;
  readonly headerBytes: number;
  readonly connections: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 65_000,
  stalledMs: 30_000,
  headerBytes: 16_384,
  connections: 10_000,
};
