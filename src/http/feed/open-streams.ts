import type { Principal } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { FeedStream } from "./feed-stream.ts";
import type { FeedSettings } from "./settings.ts";

type Limits = Pick<FeedSettings, "mostQueuedBytes" | "mostStreams" | "mostAgeMs" | "recheckMs">;

/** The reader of a stream. */
export interface Reading {
  readonly viewer: Principal;
  /** Checks again who reads this. */
  readonly recognise: () => Promise<Principal | undefined>;
  readonly onEnd: (stream: FeedStream) => void;
}

/** The open streams of one kind: how many a principal may have, how long each lasts, and that its login lasts as long. */
export class OpenStreams {
  readonly #limits: Limits;
  readonly #open = new Set<FeedStream>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): Iterator<FeedStream> {
    return this.#open.values();
  }

  /** Throws `rate-limited`. */
  open({ viewer, recognise, onEnd }: Reading): FeedStream {
    this.#checkCount(viewer);
    const stream = new FeedStream(viewer, {
      mostQueuedBytes: this.#limits.mostQueuedBytes,
      now: performance.now(),
      recognise,
      onEnd: (ended) => {
        this.#open.delete(ended);
        onEnd(ended);
      },
    });
    this.#open.add(stream);
    return stream;
  }

  /** To be called from time to time: ends a stream that is too old, or whose reader's login or rights have changed. */
  async check(stream: FeedStream): Promise<void> {
    const now = performance.now();
    if (now - stream.openedAt >= this.#limits.mostAgeMs) stream.end();
    else await stream.recheck(now, this.#limits.recheckMs);
  }

  #checkCount(viewer: Principal): void {
    const holder = holderOf(viewer);
    let open = 0;
    for (const stream of this.#open) if (holderOf(stream.viewer) === holder) open += 1;
    if (open < this.#limits.mostStreams) return;
    throw new CountersignError("rate-limited", `${viewer.id} already has ${open} live feeds open.`, {
      details: { hint: "Close an inbox page or another client, and try again." },
    });
  }
}

/** The key for counting a caller's streams, whatever they may see. */
function holderOf({ id, kind, onBehalfOf }: Principal): string {
  return JSON.stringify([id, kind, onBehalfOf ?? null]);
}
