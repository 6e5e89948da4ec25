import type { Ledger, Principal } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { list } from "../approvals/list.ts";
import type { Site } from "../site.ts";
import { type Change, readChanges, toMessages } from "./changes.ts";
import { FeedStream } from "./feed-stream.ts";
import type { FeedSettings } from "./settings.ts";
import { Tail } from "./tail.ts";

const REPLAY_PAGE = 50;
const ENCODER = new TextEncoder();

/** Who wants to read, and from where. */
export interface Opening {
  readonly viewer: Principal;
  readonly lastEventId: string | undefined;
  /** Who reads this, asked anew. */
  readonly recognise: () => Promise<Principal | undefined>;
}

/**
 * The live feed: one tail of the journal for all streams of this process. A stream is either catching up, by reading
 * the journal itself, or live, and then exactly where the tail is; it becomes live in the moment in which there is
 * nothing left to catch up with, so that no record is missed or told twice. Nothing runs while nobody listens.
 */
export class Feed {
  readonly #site: Site;
  readonly #settings: FeedSettings;
  readonly #streams = new Set<FeedStream>();
  readonly #live = new Set<FeedStream>();
  #tail: Promise<Tail> | undefined;

  constructor(site: Site, settings: FeedSettings) {
    this.#site = site;
    this.#settings = settings;
    site.closing.addEventListener("abort", () => {
      for (const stream of this.#streams) stream.end();
    });
  }

  /** Opens a stream for this viewer, from after the record that it saw last. */
  async open({ viewer, lastEventId, recognise }: Opening): Promise<ReadableStream<Uint8Array>> {
    if (this.#site.closing.aborted) throw new CountersignError("closed", "The server is shutting down.");
    const ledger = await this.#site.ledger();
    const stream = new FeedStream(viewer, {
      mostQueuedBytes: this.#settings.mostQueuedBytes,
      now: performance.now(),
      recognise,
      onEnd: (ended) => this.#forget(ended),
    });
    this.#streams.add(stream);
    try {
      this.#tail ??= this.#start(ledger);
      const tail = await this.#tail;
      void this.#begin(stream, tail, lastEventId).catch((error: unknown) => this.#failed(stream, error));
      return stream.body;
    } catch (error) {
      this.#forget(stream);
      throw error;
    }
  }

  async #start(ledger: Ledger): Promise<Tail> {
    const tail = new Tail({
      ledger,
      batchMs: this.#settings.batchMs,
      onPage: (changes) => this.#fanOut(changes),
      onError: (error) => this.#site.log.warn({ err: error }, "the live feed cannot read the journal"),
    });
    await tail.start();
    tail.every(this.#settings.heartbeatMs, () => this.#beat(tail));
    return tail;
  }

  /** Brings a stream to where the tail is. */
  async #begin(stream: FeedStream, tail: Tail, lastEventId: string | undefined): Promise<void> {
    if (lastEventId === undefined) {
      stream.send(message("ready", "{}", tail.position));
      this.#live.add(stream);
      return;
    }
    const { after, reason } = this.#startOf(lastEventId, tail.position);
    if (reason !== undefined) {
      stream.send(message("reset", JSON.stringify({ reason }), after));
      const page = await list(tail.ledger, {}, stream.viewer);
      stream.send(message("snapshot", JSON.stringify(page)));
    }
    await this.#catchUp(stream, tail, after);
  }

  #startOf(lastEventId: string, position: number): { readonly after: number; readonly reason?: string } {
    const after = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
    if (after === undefined) return { after: position, reason: "unknown-id" };
    if (after > position) return { after: position, reason: "from-elsewhere" };
    if (position - after > this.#settings.mostBehind) return { after: position, reason: "too-old" };
    return { after };
  }

  async #catchUp(stream: FeedStream, tail: Tail, start: number): Promise<void> {
    let after = start;
    while (stream.isOpen) {
      const until = tail.position;
      if (after >= until) {
        this.#live.add(stream);
        return;
      }
      const records = await tail.ledger.journal({ after, until, limit: REPLAY_PAGE });
      const text = toMessages(await readChanges(tail.ledger, records), stream.viewer);
      if (text !== "") stream.send(text);
      after = records.length < REPLAY_PAGE ? until : (records.at(-1)?.seq ?? until);
      await stream.drained();
    }
  }

  #fanOut(changes: readonly Change[]): void {
    const told = new Map<string, Uint8Array | undefined>();
    for (const stream of this.#live) {
      const { viewerKey, viewer } = stream;
      if (!told.has(viewerKey)) {
        const text = toMessages(changes, viewer);
        told.set(viewerKey, text === "" ? undefined : ENCODER.encode(text));
      }
      const chunk = told.get(viewerKey);
      if (chunk !== undefined) stream.send(chunk);
    }
  }

  // The id tells a client where it is even if nothing was for it, so that it need not begin anew when it comes back.
  #beat({ position }: Tail): void {
    const beat = ENCODER.encode(`:\nid: ${position}\n\n`);
    const now = performance.now();
    for (const stream of this.#streams) {
      if (now - stream.openedAt >= this.#settings.mostAgeMs) {
        stream.end();
        continue;
      }
      if (this.#live.has(stream)) stream.send(beat);
      stream.recheck(now, this.#settings.recheckMs).catch((error: unknown) => this.#failed(stream, error));
    }
  }

  #failed(stream: FeedStream, error: unknown): void {
    this.#site.log.warn({ err: error }, "a stream of the live feed ended early");
    stream.end();
  }

  #forget(stream: FeedStream): void {
    this.#streams.delete(stream);
    this.#live.delete(stream);
    if (this.#streams.size > 0) return;
    const tail = this.#tail;
    this.#tail = undefined;
    void tail?.then(
      (running) => running.stop(),
      () => {},
    );
  }
}

function message(event: string, data: string, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}
