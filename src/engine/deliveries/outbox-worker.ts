import type { Clock } from "../common/index.ts";
import type { Delivery, DeliveryEnd } from "../journal/index.ts";
import { isLedgerAway, type Ledger } from "../ledger/index.ts";
import { type DeliverySettings, retryDelayMs, type Told, toEnd } from "./delivery-settings.ts";
import { EndWriter } from "./end-writer.ts";
import { OutboxReader, type Queue } from "./outbox-reader.ts";

// The polling interval if no change is reported.
const SWEEP_MS = 5_000;
/** Between tries to note how a message ended. */
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;
// A busy ledger changes all the time; for this long after a poll, only free capacity triggers the next.
const BREATH_MS = 25;
// To read what another process is about to enqueue is work for nothing: meanwhile this one takes what is there.
const FILLED_BY_ANOTHER_MS = 200;
const STOP_GRACE_MS = 2_000;
// While a recipient fails, one message is tried from time to time, more often than each message is retried.
const PAUSE_SHARE = 10;
const LONGEST_PAUSE_MS = 60_000;
const RENEWALS_PER_HOLD = 3;

/** An attempt that did not reach its recipient. */
export interface DeliveryFailure {
  readonly channel: string;
  /** The notice's. */
  readonly sequence: number;
  readonly attempt: number;
  readonly reason: string;
  /** It is not tried again. */
  readonly dead: boolean;
}

/** Sends one message; it may have been sent before. Must end soon after the signal aborts. */
export type Send = (delivery: Delivery, signal: AbortSignal) => Promise<Told>;

export interface OutboxWorkerInput {
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly settings: DeliverySettings;
  /** What sends messages that were taken together, at once: what all of them need can be read once. */
  readonly sender: (taken: readonly Delivery[]) => Send;
  readonly onFailure: (failure: DeliveryFailure) => void;
  readonly onError: (error: unknown) => void;
}

/** One process's work for one queue. Memory only says when to poll; everything else is in the ledger. */
export class OutboxWorker {
  readonly #input: OutboxWorkerInput;
  readonly #reader: OutboxReader;
  readonly #ends: EndWriter;
  readonly #sending = new Set<Promise<void>>();
  /** Sent, and not yet noted: meanwhile the next ones are sent. */
  readonly #noting = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  /** Ends what is being sent, once stopping has taken long enough. */
  readonly #hurry = new AbortController();
  readonly #stopped: Promise<void>;
  #wake = new AbortController();
  /** The journal may say something new. */
  #hasNews = true;
  /** Something was sent since the last poll, and there is room for more. */
  #hasRoom = false;
  /** Before this time another process fills the queue, as far as is known. */
  #fillsAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(input: OutboxWorkerInput) {
    this.#input = input;
    this.#reader = new OutboxReader(input.ledger, input.queue);
    this.#ends = new EndWriter(input);
    this.#stopped = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#stopped;
    const sent = Promise.all(this.#sending).then(() => Promise.all(this.#noting));
    const done = new AbortController();
    const grace = this.#input.clock.sleep(STOP_GRACE_MS, done.signal).then(() => this.#hurry.abort());
    await sent;
    done.abort();
    await grace;
  }

  async #loop(): Promise<void> {
    const { clock, ledger, onError } = this.#input;
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      this.#hasRoom = false;
      const lookedAt = clock.monotonic();
      let unsubscribe: (() => void) | undefined;
      let sleepMs = SWEEP_MS;
      try {
        unsubscribe = ledger.onChange(() => {
          this.#hasNews = true;
          this.#wake.abort();
        });
        const hasNews = this.#hasNews;
        this.#hasNews = false;
        if (hasNews) await this.#fill();
        await this.#takeUp();
        sleepMs = this.#hasNews ? BREATH_MS : await this.#untilNext();
      } catch (error) {
        this.#hasNews = true;
        onError(error);
      }
      await clock.sleepInBackground(sleepMs, AbortSignal.any([this.#wake.signal, this.#stop.signal]));
      unsubscribe?.();
      if (this.#hasRoom) continue;
      // No changes are observed during the pause, and a full poll does not rely on notifications.
      this.#hasNews = true;
      const breathMs = BREATH_MS - (clock.monotonic() - lookedAt);
      if (breathMs > 0) await clock.sleepInBackground(breathMs, this.#stop.signal);
    }
  }

  // Whether or not whoever fills it now goes on, all of it has to be there in the end.
  async #fill(): Promise<void> {
    const { clock } = this.#input;
    if (clock.monotonic() < this.#fillsAt) this.#hasNews = true;
    else if (!(await this.#reader.enqueueNew())) {
      this.#hasNews = true;
      this.#fillsAt = clock.monotonic() + FILLED_BY_ANOTHER_MS;
    }
  }

  async #takeUp(): Promise<void> {
    const { queue, ledger, settings, clock, onError } = this.#input;
    const limit = this.#free();
    if (clock.monotonic() < this.#pausedUntil || limit <= 0) return;
    const taken = await ledger.outbox.takeDeliveries(queue.name, { limit, holdMs: settings.holdMs });
    const send = this.#input.sender(taken);
    for (const delivery of taken) {
      const sending = this.#send(delivery, send)
        .catch(onError)
        .finally(() => {
          this.#sending.delete(sending);
          this.#hasRoom = true;
          this.#wake.abort();
        });
      this.#sending.add(sending);
    }
  }

  /** How many more may be sent at once. After a failure only one, as a test. As many again may wait to be noted. */
  #free(): number {
    const { concurrency } = this.#input.settings;
    const most = this.#failures > 0 ? 1 : concurrency;
    return Math.min(most - this.#sending.size, 2 * concurrency - this.#sending.size - this.#noting.size);
  }

  async #untilNext(): Promise<number> {
    const { queue, ledger, clock } = this.#input;
    const pauseMs = this.#pausedUntil - clock.monotonic();
    if (pauseMs > 0) return Math.min(pauseMs, SWEEP_MS);
    // Whatever ends wakes the loop.
    if (this.#free() <= 0) return SWEEP_MS;
    const next = await ledger.outbox.nextDeliveryAt(queue.name);
    return next === undefined ? SWEEP_MS : Math.min(Math.max(next - ledger.now, 1), SWEEP_MS);
  }

  async #send(delivery: Delivery, send: Send): Promise<void> {
    const { ledger, settings, onError } = this.#input;
    const told = await this.#tell(delivery, send);
    const end: DeliveryEnd =
      !told.ok && this.#hurry.signal.aborted
        ? { as: "postponed", forMs: 0, error: told.reason }
        : toEnd(told, delivery, { settings, now: ledger.now });
    this.#pace(told);
    const noting = this.#note(delivery, told, end)
      .catch(onError)
      .finally(() => {
        this.#noting.delete(noting);
        this.#hasRoom = true;
        this.#wake.abort();
      });
    this.#noting.add(noting);
  }

  async #note(delivery: Delivery, told: Told, end: DeliveryEnd): Promise<void> {
    await this.#writeEnd(delivery, end);
    if (told.ok || told.isHeld) return;
    const { channel, seq: sequence, attempt } = delivery;
    this.#input.onFailure({ channel, sequence, attempt, reason: told.reason, dead: end.as === "dead" });
  }

  // If it is not written, the message is sent again. It is judged by its attempt, so writing it twice does no harm.
  async #writeEnd(delivery: Delivery, end: DeliveryEnd): Promise<void> {
    const { clock, onError } = this.#input;
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_RETRY_MS)) {
      try {
        return await this.#ends.write(delivery, end);
      } catch (error) {
        if (this.#hurry.signal.aborted || !isLedgerAway(error)) throw error;
        onError(error);
      }
      await clock.sleepInBackground(pauseMs, this.#hurry.signal);
    }
  }

  async #tell(delivery: Delivery, send: Send): Promise<Told> {
    const { clock, settings } = this.#input;
    const done = new AbortController();
    const late = new AbortController();
    const timer = clock.sleep(settings.timeoutMs, done.signal).then(() => {
      if (!done.signal.aborted) late.abort(new DOMException("Timed out.", "TimeoutError"));
    });
    const renewing = this.#renew(delivery, done.signal);
    try {
      return await send(delivery, AbortSignal.any([late.signal, this.#hurry.signal]));
    } catch (error) {
      this.#input.onError(error);
      return { ok: false, reason: "The handler failed. See the server log." };
    } finally {
      done.abort();
      await timer;
      await renewing;
    }
  }

  /** Keeps the hold of an attempt that may take longer than it. */
  async #renew(delivery: Delivery, done: AbortSignal): Promise<void> {
    const { clock, ledger, settings, onError } = this.#input;
    const { holdMs, timeoutMs } = settings;
    if (timeoutMs < holdMs) return;
    const held = { as: "postponed", forMs: holdMs, error: "It is being handled." } as const;
    for (;;) {
      await clock.sleepInBackground(holdMs / RENEWALS_PER_HOLD, done);
      if (done.aborted) return;
      await ledger.outbox.endDelivery(delivery, held).catch(onError);
    }
  }

  #pace(told: Told): void {
    if (told.ok) {
      this.#failures = 0;
      return;
    }
    // One recipient who is gone says nothing about the others.
    if (told.final || told.isolated) return;
    this.#failures += 1;
    const { firstRetryMs, longestRetryMs } = this.#input.settings;
    const delayMs = retryDelayMs(this.#failures, { firstRetryMs, longestRetryMs }) / PAUSE_SHARE;
    const pauseMs = Math.min(Math.max(delayMs, told.retryAfterMs ?? 0), LONGEST_PAUSE_MS);
    this.#pausedUntil = this.#input.clock.monotonic() + pauseMs;
  }
}
