/** The only source of time in the engine. Tests pass one that they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch, for deadlines and records. */
  now(): number;
  /** Milliseconds that only go forward, for measuring how long something took. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** The same, but it does not keep the process alive: for background loops. */
  sleepInBackground(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `then` after `ms`, unless the returned function is called first. Lets the process end. */
  after(ms: number, then: () => void): () => void;
  /** Keeps the process alive until the returned function is called. */
  hold(): () => void;
}

// setTimeout fires at once for a longer delay, which would turn a far deadline into a busy loop.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepFor(ms, { signal, background: false }),
  sleepInBackground: (ms, signal) => sleepFor(ms, { signal, background: true }),
  after: (ms, then) => {
    const timer = setTimeout(then, delayOf(ms));
    timer.unref();
    return () => clearTimeout(timer);
  },
  hold: holdProcess,
};

let holders = 0;
let holding: NodeJS.Timeout | undefined;

// One timer for all: to make and to drop one at every turn takes longer.
function holdProcess(): () => void {
  holding ??= setInterval(() => {}, LONGEST_TIMER_MS);
  if (holders === 0) holding.ref();
  holders += 1;
  let released = false;
  return () => {
    if (released) return;
    released = true;
    holders -= 1;
    if (holders === 0) holding?.unref();
  };
}

function sleepFor(
  ms: number,
  { signal, background }: { readonly signal: AbortSignal | undefined; readonly background: boolean },
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayOf(ms));
    if (background) timer.unref();
    signal?.addEventListener("abort", done, { once: true });
  });
}

function delayOf(ms: number): number {
  return Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
}

/** A random part of `maxMs`, so that processes that collided do not collide again. */
export function jitter(maxMs: number): number {
  return Math.random() * maxMs;
}

/**
 * Waits for a random part of `maxMs` before a collision is tried again. In real time, whatever the engine's clock is: the
 * others do not stand still when a test's clock does.
 */
export function pauseBriefly(maxMs: number): Promise<void> {
  return systemClock.sleep(jitter(maxMs));
}
