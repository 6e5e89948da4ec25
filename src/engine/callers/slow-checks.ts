import { CountersignError } from "../../protocol/index.ts";
import { type Clock, TransientMap } from "../common/index.ts";

/** What takes less is not counted: a busy machine is nobody's fault. */
const SHORT_MS = 50;
/** So long the checks of one caller may take together, before it has to wait. */
const MOST_MS = 1_000;
/** For each millisecond that they took, it waits so many. */
const WAIT_FACTOR = 30;
const MOST_CALLERS = 1_000;

interface Spent {
  readonly ms: number;
  readonly at: number;
}

/**
 * Limits the time that this process spends on checking arguments against the schemas that callers send. Nobody else is
 * answered meanwhile, and a schema that takes long costs its sender nothing.
 */
export class SlowChecks {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #spent = new TransientMap<string, Spent>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Makes a check for this caller. Throws `rate-limited` if its checks took too long before. */
  run<T>(caller: string, check: () => T): T {
    const begun = this.#clock.monotonic();
    const before = this.#left(caller, begun);
    if (before > MOST_MS) throw tooSlow(caller, Math.ceil(((before - MOST_MS) * WAIT_FACTOR) / 1_000));
    try {
      return check();
    } finally {
      const at = this.#clock.monotonic();
      if (at - begun >= SHORT_MS) this.#keep(caller, { ms: before + at - begun, at });
    }
  }

  #left(caller: string, now: number): number {
    const { ms, at } = this.#spent.get(caller) ?? { ms: 0, at: now };
    return Math.max(0, ms - (now - at) / WAIT_FACTOR);
  }

  #keep(caller: string, spent: Spent): void {
    this.#spent.delete(caller);
    this.#spent.set(caller, spent);
    const [oldest = caller] = this.#spent.keys();
    if (this.#spent.size > MOST_CALLERS) this.#spent.delete(oldest);
  }
}

function tooSlow(caller: string, seconds: number): CountersignError {
  return new CountersignError(
    "rate-limited",
    `The schemas that ${caller} sent took too long to check. Try again in ${seconds} s, or send simpler ones.`,
  );
}
