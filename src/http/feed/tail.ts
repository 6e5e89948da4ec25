import { type JournalPlace, type JournalRecord, type Ledger, recordsAfter } from "../../engine/index.ts";
import type { Site } from "../site.ts";
import { type Change, readChanges } from "./changes.ts";

const PAGE = { limit: 100, bytes: 1_000_000 } as const;
const RETRY_MS = 1_000;
const BEGINNING: JournalPlace = { seq: 0 };

export interface TailOptions {
  readonly ledger: Ledger;
  readonly site: Pick<Site, "ledger" | "counting">;
  /** Commits within this time are read together. */
  readonly batchMs: number;
  /** Called with a page of the journal, at the same moment in which `position` moves past it. */
  readonly onPage: (changes: readonly Change[]) => void;
  /** Called when the record at `position` was lost, so that the tail cannot continue. It has stopped then. */
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
}

/** Follows the journal from where it ends when this starts. */
export class Tail {
  readonly ledger: Ledger;
  readonly #options: TailOptions;
  #last: JournalRecord | undefined;
  #unlisten: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #beat: NodeJS.Timeout | undefined;
  #reading = false;
  #changed = false;
  #stopped = false;

  constructor(options: TailOptions) {
    this.ledger = options.ledger;
    this.#options = options;
  }

  /** Everything up to this record was sent. */
  get position(): JournalPlace {
    return this.#last ?? BEGINNING;
  }

  async start(): Promise<void> {
    // Subscribes before it reads, so that no commit in between is missed.
    this.#unlisten = this.ledger.onChange(() => this.#wake(this.#options.batchMs));
    this.#reading = true;
    try {
      this.#last = await this.ledger.journal.lastRecord();
    } catch (error) {
      this.stop();
      throw error;
    }
    this.#reading = false;
    if (this.#changed) this.#wake(0);
  }

  /** Does something at intervals for as long as this follows. */
  every(ms: number, work: () => void): void {
    if (this.#stopped) return;
    this.#beat = setInterval(work, ms).unref();
  }

  stop(): void {
    this.#stopped = true;
    this.#unlisten?.();
    clearTimeout(this.#timer);
    clearInterval(this.#beat);
  }

  #wake(ms: number): void {
    this.#changed = true;
    if (this.#reading || this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#read().catch(this.#options.onError);
    }, ms).unref();
  }

  async #read(): Promise<void> {
    this.#reading = true;
    this.#changed = false;
    let pause = this.#options.batchMs;
    try {
      while (await this.#readPage()) {}
    } catch (error) {
      // Unread records are still there; a later commit would wake this, but there may be none.
      this.#changed = true;
      pause = RETRY_MS;
      if (!this.#stopped) this.#options.onError(error);
    }
    this.#reading = false;
    if (this.#changed) this.#wake(pause);
  }

  async #readPage(): Promise<boolean> {
    const records = await recordsAfter(this.ledger, this.position, PAGE);
    if (records === undefined) {
      await this.#lookForLast();
      return false;
    }
    const changes = await readChanges(this.#options.site, records);
    const last = records.at(-1);
    if (last === undefined || this.#stopped) return false;
    this.#last = last;
    this.#options.onPage(changes);
    // A page may be short and not the last.
    return true;
  }

  // A session's chain withholds nothing: a record that is not there is lost, and its number may belong to another.
  async #lookForLast(): Promise<void> {
    const last = this.#last;
    if (last === undefined) return;
    const [found] = await this.ledger.journal.sessionRecords(last.stream, { after: last.n - 1, limit: 1 });
    if ((found?.seq === last.seq && found.hash === last.hash) || this.#stopped) return;
    this.stop();
    this.#options.onLost();
  }
}
