/** Settings of the live feed. */
export interface FeedSettings {
  /** How many commits a client may have missed before it gets a snapshot instead of them. */
  readonly mostBehind: number;
  /** The interval of heartbeats, so that proxies keep the connection open. */
  readonly heartbeatMs: number;
  /** How often a stream's reader is checked again; the stream ends if the login has ended. */
  readonly recheckMs: number;
  /** A stream ends after this time, and its client reconnects. */
  readonly mostAgeMs: number;
  /** How much may wait for a slow reader before the connection is closed. */
  readonly mostQueuedBytes: number;
  /** How many streams one principal may have open at a time. */
  readonly mostStreams: number;
  /** Changes within this time go out together. */
  readonly batchMs: number;
}

export const FEED_SETTINGS: FeedSettings = {
  mostBehind: 10_000,
  heartbeatMs: 15_000,
  recheckMs: 30_000,
  mostAgeMs: 600_000,
  mostQueuedBytes: 256 * 1024,
  mostStreams: 20,
  batchMs: 50,
};
