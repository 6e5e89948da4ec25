/** How the live feed behaves. */
export interface FeedSettings {
  /** How many commits a client may have missed before it gets a snapshot instead of them. */
  readonly mostBehind: number;
  /** What is sent to nobody in particular, so that proxies keep the connection. */
  readonly heartbeatMs: number;
  /** How often it is asked again who reads a stream; one whose reader is not that any more ends. */
  readonly recheckMs: number;
  /** A stream ends after this time, and its client comes back. */
  readonly mostAgeMs: number;
  /** What may wait for a reader before it is cut off. */
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
