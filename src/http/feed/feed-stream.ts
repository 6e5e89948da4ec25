import type { Principal } from "../../engine/index.ts";

const ENCODER = new TextEncoder();

/** A key for everything that determines what somebody sees and may do. */
export function viewerKeyOf({ id, kind, roles, scopes, authenticated, onBehalfOf }: Principal): string {
  return JSON.stringify([id, kind, roles, scopes, authenticated, onBehalfOf ?? null]);
}

/** One open connection. Messages wait here for the reader, up to a limit. */
export class FeedStream {
  readonly viewer: Principal;
  /** Shared by all streams with the same rights. */
  readonly viewerKey: string;
  readonly openedAt: number;
  readonly body: ReadableStream<Uint8Array>;
  readonly #recognise: () => Promise<Principal | undefined>;
  readonly #bound: number;
  readonly #onEnd: (stream: FeedStream) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #drained: (() => void) | undefined;
  #checkedAt: number;

  constructor(
    viewer: Principal,
    {
      mostQueuedBytes,
      now,
      recognise,
      onEnd,
    }: {
      readonly mostQueuedBytes: number;
      readonly now: number;
      /** Checks again who reads this. */
      readonly recognise: () => Promise<Principal | undefined>;
      readonly onEnd: (stream: FeedStream) => void;
    },
  ) {
    this.viewer = viewer;
    this.viewerKey = viewerKeyOf(viewer);
    this.openedAt = now;
    this.#checkedAt = now;
    this.#recognise = recognise;
    this.#bound = mostQueuedBytes;
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#drained?.(),
        cancel: () => this.#over(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostQueuedBytes }),
    );
  }

  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** Sends, or closes the connection if the reader has not read the earlier messages. */
  send(chunk: Uint8Array | string): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    if ((controller.desiredSize ?? 0) <= 0) {
      this.#over();
      controller.error(new SlowReader());
      return;
    }
    controller.enqueue(typeof chunk === "string" ? ENCODER.encode(chunk) : chunk);
  }

  /** Resolves when the reader has taken most of what was sent, or is gone. */
  async drained(): Promise<void> {
    while ((this.#controller?.desiredSize ?? this.#bound) < this.#bound / 2) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#drained = resolve;
      await promise;
    }
  }

  /** Ends the connection if the reader's identity or rights have changed since it was opened. */
  async recheck(now: number, everyMs: number): Promise<void> {
    if (now - this.#checkedAt < everyMs) return;
    this.#checkedAt = now;
    // If the check fails, the caller counts as not authenticated.
    const viewer = await this.#recognise().catch(() => undefined);
    if (viewer === undefined || viewerKeyOf(viewer) !== this.viewerKey) this.end();
  }

  /** Ends the connection after what was sent. */
  end(): void {
    const controller = this.#controller;
    this.#over();
    controller?.close();
  }

  #over(): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#drained?.();
    this.#onEnd(this);
  }
}

/** The error that closes a connection; without a stack, because it is not a bug. */
class SlowReader extends Error {
  override readonly name = "SlowReader";

  constructor() {
    super("a client of the live feed was too slow and was disconnected");
    this.stack = `${this.name}: ${this.message}`;
  }
}
