import { randomUUID } from "node:crypto";
import { type Clock, type JournalRecord, recordsAfter } from "../../engine/index.ts";
import { type Format, toLine } from "./lines.ts";
import { type KnownPlace, type Place, PlaceBook } from "./place.ts";
import type { RunningSiem, SiemHooks } from "./siem.ts";
import type { SiemOptions } from "./siem-options.ts";
import type { Target, Written } from "./target.ts";

const MOST_RECORDS = 500;
const MOST_BYTES = 1_000_000;
// The polling interval if no change is reported.
const SWEEP_MS = 5_000;
// A busy ledger changes all the time; meanwhile records gather for one batch.
const GATHER_MS = 250;
const ATTEMPT_MS = 15_000;
// Of the hold, when an attempt begins: enough for the attempt and for noting it.
const HELD_MS = 20_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;

export interface JournalExportInput {
  readonly name: string;
  readonly format: Format;
  readonly target: Target;
  readonly ledger: SiemOptions["ledger"];
  readonly clock: Clock;
  readonly hooks: SiemHooks;
}

/** One process's work on an export. Memory only says when to look; how far it is, is in the ledger. */
export class JournalExport implements RunningSiem {
  readonly #input: JournalExportInput;
  readonly #places: PlaceBook;
  readonly #stop = new AbortController();
  readonly #stopped: Promise<void>;
  readonly #letProcessEnd: () => void;
  #limit = MOST_RECORDS;
  #failures = 0;

  constructor(input: JournalExportInput) {
    this.#input = input;
    this.#places = new PlaceBook(input.ledger, input.name, randomUUID());
    this.#letProcessEnd = input.clock.hold();
    this.#stopped = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#stopped;
    await this.#places.release().catch((error: unknown) => this.#input.hooks.onError?.(error));
    this.#letProcessEnd();
  }

  async #loop(): Promise<void> {
    const { clock, ledger, hooks } = this.#input;
    while (!this.#stop.signal.aborted) {
      const news = new AbortController();
      let unsubscribe: (() => void) | undefined;
      let wait: Wait = { ms: SWEEP_MS };
      try {
        unsubscribe = ledger.onChange(() => news.abort());
        wait = await this.#round();
      } catch (error) {
        hooks.onError?.(error);
      }
      const signals = wait.untilNews === true ? [news.signal, this.#stop.signal] : [this.#stop.signal];
      await clock.sleepInBackground(wait.ms, AbortSignal.any(signals));
      unsubscribe?.();
      if (news.signal.aborted) await clock.sleepInBackground(GATHER_MS, this.#stop.signal);
    }
  }

  /** Writes what follows, if it is this process's turn. */
  async #round(): Promise<Wait> {
    const known = await this.#places.read();
    const heldForMs = this.#places.heldForMs(known);
    if (heldForMs > 0) return { ms: Math.min(heldForMs, SWEEP_MS) };
    const records = await this.#next(known.place);
    const last = records.at(-1);
    if (last === undefined) return { ms: SWEEP_MS, untilNews: true };
    const held = await this.#places.hold(known, HELD_MS);
    if (held === undefined) return { ms: 0 };
    const written = await this.#write(records, held);
    this.#input.hooks.onAttempt?.(written.ok ? "delivered" : "failed");
    if (!written.ok) return { ms: this.#afterFailure(written, records.length) };
    this.#failures = 0;
    this.#limit = Math.min(2 * this.#limit, MOST_RECORDS);
    if (written.warning !== undefined) this.#input.hooks.onProblem?.(written.warning);
    const { seq, hash } = last;
    await this.#places.move(held, {
      seq,
      hash,
      ...(written.file === undefined ? {} : { file: written.file }),
    });
    return { ms: 0 };
  }

  async #next(place: Place): Promise<readonly JournalRecord[]> {
    const { ledger, hooks } = this.#input;
    const range = { limit: this.#limit, bytes: MOST_BYTES };
    const records = await recordsAfter(ledger, place, range);
    if (records !== undefined) return records;
    const [there] = await ledger.journal.records({ after: place.seq - 1, until: place.seq, limit: 1 });
    if (there === undefined) {
      // A store may hold back its newest records for a moment.
      hooks.onProblem?.(`The journal ends before record ${place.seq}, which was exported. Waiting for it.`);
      return [];
    }
    hooks.onProblem?.(
      `Record ${place.seq} of the journal is not the one that was exported: the database lost records. Exporting the ` +
        "whole journal again; what was exported before has the same ids.",
    );
    return ledger.journal.records({ ...range, after: 0 });
  }

  async #write(records: readonly JournalRecord[], { place }: KnownPlace): Promise<Written> {
    const { target, format, clock } = this.#input;
    const done = new AbortController();
    const late = new AbortController();
    const timer = clock.sleep(ATTEMPT_MS, done.signal).then(() => late.abort());
    try {
      const lines = records.map((record) => toLine(record, format));
      return await target.write(
        { lines, file: place.file },
        AbortSignal.any([late.signal, this.#stop.signal]),
      );
    } finally {
      done.abort();
      await timer;
    }
  }

  /** How long to wait. Nothing is left out, whatever the target says. */
  #afterFailure(
    { reason, retryAfterMs = 0, isTooLarge }: Extract<Written, { readonly ok: false }>,
    count: number,
  ): number {
    if (isTooLarge && count > 1) {
      this.#limit = Math.max(Math.floor(count / 2), 1);
      return 0;
    }
    this.#failures += 1;
    this.#input.hooks.onProblem?.(reason);
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS);
    return Math.max(delayMs, Math.min(retryAfterMs, LONGEST_WAIT_MS));
  }
}

interface Wait {
  readonly ms: number;
  /** A change of the ledger ends it. */
  readonly untilNews?: true;
}
