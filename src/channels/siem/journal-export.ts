import { randomUUID } from "node:crypto";
import { type Clock, isPrunedPlace, type JournalRecord, recordsAfter } from "../../engine/index.ts";
import { type Format, lineId, toLine } from "./lines.ts";
import {
  type KnownPlace,
  type Place,
  PlaceBook,
  type SetAside,
  settingAside,
  settledAside,
} from "./place.ts";
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
// How often a single record is refused before it is asked whether others are accepted.
const MOST_REFUSALS = 5;
// How many of the records that follow are tried then.
const MOST_TRIED = 10;
const NONE_REFUSED = { seq: 0, times: 0 };

export interface JournalExportInput {
  readonly name: string;
  readonly format: Format;
  readonly target: Target;
  readonly ledger: SiemOptions["ledger"];
  readonly clock: Clock;
  readonly hooks: SiemHooks;
}

/** One process's work on an export. Memory only says when to look; the position is in the ledger. */
export class JournalExport implements RunningSiem {
  readonly #input: JournalExportInput;
  readonly #places: PlaceBook;
  readonly #stop = new AbortController();
  readonly #stopped: Promise<void>;
  readonly #letProcessEnd: () => void;
  #limit = MOST_RECORDS;
  #failures = 0;
  /** The record that was refused by itself, and how often in a row. */
  #refused = NONE_REFUSED;

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
    const asked = known.place.setAside?.newest.find(({ again }) => again === true);
    if (asked !== undefined) return this.#sendAgain(known, asked);
    const records = await this.#next(known.place);
    const last = records.at(-1);
    if (last === undefined) return { ms: SWEEP_MS, untilNews: true };
    const held = await this.#places.hold(known, HELD_MS);
    if (held === undefined) return { ms: 0 };
    const written = await this.#write(records, held);
    if (written.ok) return this.#goOn(held, last, written);
    const ms = this.#afterFailure(written, records.length);
    const isOne = written.isRefused === true && records.length === 1;
    const times = this.#refused.seq === last.seq ? this.#refused.times : 0;
    this.#refused = isOne ? { seq: last.seq, times: times + 1 } : NONE_REFUSED;
    return this.#refused.times >= MOST_REFUSALS ? this.#passOver(held, last, ms) : { ms };
  }

  async #goOn(
    held: KnownPlace,
    { seq, hash }: JournalRecord,
    { file, warning }: Extract<Written, { readonly ok: true }>,
    refused: readonly SetAside[] = [],
  ): Promise<Wait> {
    this.#failures = 0;
    this.#refused = NONE_REFUSED;
    this.#limit = Math.min(2 * this.#limit, MOST_RECORDS);
    if (warning !== undefined) this.#input.hooks.onProblem?.(warning);
    const place = {
      seq,
      hash,
      ...(file === undefined ? {} : { file }),
      ...settingAside(held.place, refused),
    };
    const moved = await this.#places.move(held, place);
    if (moved !== undefined) for (const record of refused) this.#report(record);
    return { ms: 0 };
  }

  /**
   * A record that is always refused is left out only if one of those that follow is accepted: otherwise the trouble is
   * the address or the login, and nothing is left out.
   */
  async #passOver(known: KnownPlace, record: JournalRecord, ms: number): Promise<Wait> {
    const { ledger, hooks } = this.#input;
    const refused = [record];
    let held = known;
    for (const next of (await recordsAfter(ledger, record, { limit: MOST_TRIED, bytes: MOST_BYTES })) ?? []) {
      const tried = await this.#tryOne(held, next);
      if (tried === undefined) return { ms: 0 };
      held = tried.held;
      const { written } = tried;
      if (written.ok) return this.#leaveOut(held, { refused, accepted: next, written, ms });
      if (!written.isRefused) return { ms };
      refused.push(next);
    }
    hooks.onProblem?.(
      `Record ${record.seq} is refused, and so are the next ones. The export waits and leaves nothing out.`,
    );
    return { ms };
  }

  /**
   * The target accepts records again, so what it refused is sent once more. What is refused even now is left out, and
   * noted in the commit that moves the place.
   */
  async #leaveOut(known: KnownPlace, { refused, accepted, written, ms }: Passing): Promise<Wait> {
    const aside: SetAside[] = [];
    let held = known;
    for (const record of refused) {
      const tried = await this.#tryOne(held, record);
      if (tried === undefined) return { ms: 0 };
      held = tried.held;
      if (tried.written.ok) continue;
      const { isRefused, reason } = tried.written;
      if (!isRefused) return { ms };
      aside.push({ seq: record.seq, id: lineId(record), at: this.#input.clock.now(), reason });
    }
    return this.#goOn(held, accepted, written, aside);
  }

  /** Sends a record once more that was set aside. Whatever is not accepted stays set aside: the others do not wait for it. */
  async #sendAgain(known: KnownPlace, { seq, id }: SetAside): Promise<Wait> {
    const [record] = await this.#input.ledger.journal.records({ after: seq - 1, until: seq, limit: 1 });
    if (record === undefined || lineId(record) !== id)
      return this.#settle(known, { seq, id, reason: "The journal no longer has this record." });
    const tried = await this.#tryOne(known, record);
    if (tried === undefined) return { ms: 0 };
    const { held, written } = tried;
    // This process stops: it is still to be sent again.
    if (!written.ok && this.#stop.signal.aborted) return { ms: 0 };
    return this.#settle(held, { seq, id, ...(written.ok ? {} : { reason: written.reason }) });
  }

  /** Notes what became of a record that was sent once more; with a reason, it stays set aside. */
  async #settle(
    { place, ...held }: KnownPlace,
    { seq, id, reason }: Pick<SetAside, "seq" | "id"> & { readonly reason?: string },
  ): Promise<Wait> {
    const refused = reason === undefined ? undefined : { seq, id, at: this.#input.clock.now(), reason };
    const { setAside: _before, ...rest } = place;
    const left = { ...rest, ...settledAside(place, { seq }, refused) };
    const moved = await this.#places.move({ place, ...held }, left);
    if (moved !== undefined && refused !== undefined) this.#report(refused);
    return { ms: 0 };
  }

  /** Writes one record. Undefined: this process stops, or another one has the place. */
  async #tryOne(known: KnownPlace, record: JournalRecord): Promise<Tried | undefined> {
    const held = this.#stop.signal.aborted ? undefined : await this.#places.hold(known, HELD_MS);
    if (held === undefined) return undefined;
    const written = await this.#write([record], held);
    // An outage: what was refused is to be refused as often again.
    if (!written.ok && !written.isRefused) this.#refused = NONE_REFUSED;
    return { held, written };
  }

  #report({ seq, id, reason }: SetAside): void {
    const { hooks } = this.#input;
    hooks.onAttempt?.("set-aside");
    hooks.onProblem?.(`Record ${seq} (${id}) is refused, so it is set aside: ${reason}`);
  }

  async #next(place: Place): Promise<readonly JournalRecord[]> {
    const { ledger, hooks } = this.#input;
    const range = { limit: this.#limit, bytes: MOST_BYTES };
    const records = await recordsAfter(ledger, place, range);
    if (records !== undefined) return records;
    const [there] = await ledger.journal.records({ after: place.seq - 1, limit: 1 });
    if (there === undefined) {
      // A store may hold back its newest records for a moment.
      hooks.onProblem?.(`The journal ends before record ${place.seq}, which was exported. Waiting for it.`);
      return [];
    }
    if (there.seq > place.seq && (await isPrunedPlace(ledger, place.seq))) {
      hooks.onProblem?.(
        `Record ${place.seq}, the last one that was exported, was pruned since. Exporting what is left behind it; what was ` +
          "pruned before it was exported is missing.",
      );
      return ledger.journal.records({ ...range, after: place.seq });
    }
    hooks.onProblem?.(
      `Record ${place.seq} of the journal is not the one that was exported: the database lost records. Exporting the ` +
        "whole journal again; what was exported before has the same ids.",
    );
    return ledger.journal.records({ ...range, after: 0 });
  }

  async #write(records: readonly JournalRecord[], { place }: KnownPlace): Promise<Written> {
    const { target, format, clock, hooks } = this.#input;
    const done = new AbortController();
    const late = new AbortController();
    const timer = clock.sleep(ATTEMPT_MS, done.signal).then(() => late.abort());
    try {
      const lines = records.map((record) => toLine(record, format));
      const signal = AbortSignal.any([late.signal, this.#stop.signal]);
      const written = await target.write({ lines, file: place.file }, signal);
      hooks.onAttempt?.(written.ok ? "delivered" : "failed");
      return written;
    } finally {
      done.abort();
      await timer;
    }
  }

  /** How long to wait. A batch that is refused is halved, until it is known which record is. */
  #afterFailure(
    { reason, retryAfterMs = 0, isRefused }: Extract<Written, { readonly ok: false }>,
    count: number,
  ): number {
    if (isRefused && count > 1) {
      this.#limit = Math.max(Math.floor(count / 2), 1);
      return 0;
    }
    this.#failures += 1;
    this.#input.hooks.onProblem?.(reason);
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS);
    return Math.max(delayMs, Math.min(retryAfterMs, LONGEST_WAIT_MS));
  }
}

/** Records that were refused, and one behind them that was accepted. */
interface Passing {
  readonly refused: readonly JournalRecord[];
  readonly accepted: JournalRecord;
  readonly written: Extract<Written, { readonly ok: true }>;
  /** How long to wait where they cannot be passed over. */
  readonly ms: number;
}

interface Tried {
  readonly held: KnownPlace;
  readonly written: Written;
}

interface Wait {
  readonly ms: number;
  /** A change of the ledger ends it. */
  readonly untilNews?: true;
}
