import { setTimeout as sleep } from "node:timers/promises";
import { commitsBetween, type JournalPlace, type Ledger, recordsAfter } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { list } from "../approvals/list.ts";
import type { Site } from "../site.ts";
import { type Change, readChanges, toMessages } from "./changes.ts";
import { fromEventId, type IdReader, toEventId } from "./event-id.ts";
import type { FeedStream } from "./feed-stream.ts";
import { OpenStreams, type Reading } from "./open-streams.ts";
import type { FeedSettings } from "./settings.ts";
import { Tail } from "./tail.ts";

const REPLAY_PAGE = { limit: 50, bytes: 1_000_000 } as const;
// An id of another ledger, or of a record that this one has lost.
const ELSEWHERE = "from-elsewhere";
const ENCODER = new TextEncoder();

/** The reader, and the position to start from. */
export interface Opening extends Omit<Reading, "onEnd"> {
  readonly lastEventId: string | undefined;
}

/**
 * The live feed: one tail of the journal for all streams of this process. A stream is either catching up, by reading
 * the journal itself, or live, and then exactly at the tail's position. It becomes live at the moment when it has
 * caught up, so that no record is missed or sent twice. Nothing runs without listeners.
 */
export class Feed {
  readonly #site: Site;
  readonly #settings: FeedSettings;
  readonly #streams: OpenStreams;
  readonly #live = new Set<FeedStream>();
  #tail: Promise<Tail> | undefined;

  constructor(site: Site, settings: FeedSettings) {
    this.#site = site;
    this.#settings = settings;
    this.#streams = new OpenStreams(settings);
    site.closing.addEventListener("abort", () => {
      for (const stream of this.#streams) stream.end();
    });
  }

  /** Opens a stream for this viewer, from after the record that it saw last. */
  async open({ viewer, lastEventId, recognise }: Opening): Promise<ReadableStream<Uint8Array>> {
    if (this.#site.closing.aborted) throw new CountersignError("closed", "The server is shutting down.");
    const ledger = await this.#site.ledger();
    const stream = this.#streams.open({ viewer, recognise, onEnd: (ended) => this.#forget(ended) });
    try {
      this.#tail ??= this.#start(ledger);
      const tail = await this.#tail;
      void this.#begin(stream, tail, lastEventId).catch((error: unknown) => this.#failed(stream, error));
      return stream.body;
    } catch (error) {
      stream.end();
      throw error;
    }
  }

  async #start(ledger: Ledger): Promise<Tail> {
    const tail = new Tail({
      ledger,
      site: this.#site,
      batchMs: this.#settings.batchMs,
      onPage: (changes) => this.#fanOut(changes, ledger),
      onLost: () => this.#startAnew(),
      onError: (error) => this.#site.log.warn({ err: error }, "the live feed cannot read the journal"),
    });
    await tail.start();
    tail.every(this.#settings.heartbeatMs, () => this.#beat(tail));
    return tail;
  }

  // Each client reconnects with its last id. Whether that record was lost too is checked then.
  #startAnew(): void {
    this.#site.log.warn({}, "the journal lost its newest records; live feeds restart");
    for (const stream of this.#streams) stream.end();
  }

  /** Lets a stream catch up with the tail. */
  async #begin(stream: FeedStream, tail: Tail, lastEventId: string | undefined): Promise<void> {
    if (lastEventId !== undefined) {
      const start = this.#startOf(fromEventId(readerOf(stream, tail), lastEventId), tail.position);
      await this.#catchUp(
        stream,
        tail,
        typeof start === "string" ? await this.#reset(stream, tail, start) : start,
      );
    } else if (stream.isOpen) {
      stream.send(message("ready", "{}", toEventId(readerOf(stream, tail), tail.position)));
      this.#live.add(stream);
    }
  }

  /** The position of the id, or why the stream cannot continue from there. */
  #startOf(place: JournalPlace | undefined, position: JournalPlace): JournalPlace | string {
    if (place === undefined) return "unknown-id";
    if (place.seq > position.seq) return ELSEWHERE;
    return commitsBetween(place.seq, position.seq) > this.#settings.mostBehind ? "too-old" : place;
  }

  async #catchUp(stream: FeedStream, tail: Tail, start: JournalPlace): Promise<void> {
    let after = start;
    while (stream.isOpen) {
      const until = tail.position;
      if (isAt(after, until)) {
        this.#live.add(stream);
        return;
      }
      const records = await recordsAfter(tail.ledger, after, { until: until.seq, ...REPLAY_PAGE });
      const last = records?.at(-1);
      if (records === undefined) {
        after = await this.#reset(stream, tail, ELSEWHERE);
      } else if (last === undefined) {
        // The record at `until` exists; the store withholds it for a moment.
        await sleep(this.#settings.batchMs, undefined, { ref: false });
      } else {
        const text = toMessages(await readChanges(this.#site, records), readerOf(stream, tail));
        if (text !== "") stream.send(text);
        after = last;
        await stream.drained();
      }
    }
  }

  /** Tells a client to discard its state and sends what waits. Resolves to its new position. */
  async #reset(stream: FeedStream, tail: Tail, reason: string): Promise<JournalPlace> {
    const { position } = tail;
    const page = await list({ site: this.#site, principal: stream.viewer }, {});
    // Sent together: a client that has the id of one also has the other.
    stream.send(
      message("reset", JSON.stringify({ reason }), toEventId(readerOf(stream, tail), position)) +
        message("snapshot", JSON.stringify(page)),
    );
    return position;
  }

  #fanOut(changes: readonly Change[], ledger: Ledger): void {
    const told = new Map<string, Uint8Array | undefined>();
    for (const stream of this.#live) {
      const { viewerKey, viewer } = stream;
      if (!told.has(viewerKey)) {
        const text = toMessages(changes, { ledger, viewer });
        told.set(viewerKey, text === "" ? undefined : ENCODER.encode(text));
      }
      const chunk = told.get(viewerKey);
      if (chunk !== undefined) stream.send(chunk);
    }
  }

  // The id tells a client its position even if it got no message, so that it can resume there.
  #beat(tail: Tail): void {
    for (const stream of this.#streams) {
      this.#streams.check(stream).catch((error: unknown) => this.#failed(stream, error));
      if (this.#live.has(stream))
        stream.send(`:\nid: ${toEventId(readerOf(stream, tail), tail.position)}\n\n`);
    }
  }

  #failed(stream: FeedStream, error: unknown): void {
    this.#site.log.warn({ err: error }, "a live feed ended early");
    stream.end();
  }

  #forget(stream: FeedStream): void {
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

function isAt({ seq, hash }: JournalPlace, place: JournalPlace): boolean {
  return seq === place.seq && (hash === undefined || hash === place.hash);
}

function readerOf({ viewer }: FeedStream, { ledger }: Tail): IdReader {
  return { ledger, viewer };
}

function message(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}
