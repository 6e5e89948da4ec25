import type { Clock } from "./clock.ts";

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: number;
  #elapsed = 0;
  readonly #sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();

  constructor(startAt: number = Date.UTC(2026, 0, 1)) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true || ms <= 0) return resolve();
      const sleeper = {
        until: this.#elapsed + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", sleeper.wake, { once: true });
    });
  }

  sleepInBackground(ms: number, signal?: AbortSignal): Promise<void> {
    return this.sleep(ms, signal);
  }

  after(ms: number, then: () => void): () => void {
    const sleeper = {
      until: this.#elapsed + ms,
      wake: () => {
        this.#sleepers.delete(sleeper);
        then();
      },
    };
    this.#sleepers.add(sleeper);
    return () => this.#sleepers.delete(sleeper);
  }

  /** A test's process lives as long as the test. */
  hold(): () => void {
    return () => {};
  }

  /** Sets only the wall clock forward or back, as a person does, or a host after sleep. */
  shiftWall(ms: number): void {
    this.#now += ms;
  }

  /** Moves time forward, wakes what slept until then, and lets it run before it resolves. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    this.#elapsed += ms;
    const due = Array.from(this.#sleepers).filter(({ until }) => until <= this.#elapsed);
    for (const sleeper of due) sleeper.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
