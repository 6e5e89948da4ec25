import { type AuditParts, seal } from "../audit/index.ts";
import type { Executions } from "../calls/index.ts";
import type { DuePlace, DueWork } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { announce, expire } from "../questions/index.ts";
import { keepCounting } from "./keep-counting.ts";
import { recoverCall, recoverFrame } from "./recover.ts";
import { Tries } from "./tries.ts";

/** How often a worker polls if no change is reported. */
export interface WorkOptions {
  readonly sweepMs?: number;
  readonly sealMs?: number;
  /** Errors of a round; the work is tried again in the next one. */
  readonly onError?: (error: unknown) => void;
}

const DEFAULT_SWEEP_MS = 3_000;
const DEFAULT_SEAL_MS = 5_000;
const TIDY_MS = 30_000;
// A busy ledger changes all the time; polling more often than this finds little and costs a lot.
const BREATH_MS = 20;
const BATCH = 100;

type List = keyof DuePlace;
/** Before all that is urgent. */
const FRONT: DuePlace = {
  expired: [Number.MIN_SAFE_INTEGER, ""],
  unannounced: [Number.MIN_SAFE_INTEGER, ""],
  lostCalls: ["", 0, ""],
  lostFrames: ["", 0, ""],
};

/**
 * Does the work that no process is doing. Its timers only say when to look: what is due is stored in the ledger, so an
 * extra look does nothing, and a missed one is made up by the next.
 */
export class Worker {
  readonly #parts: EngineParts;
  readonly #executions: Executions;
  readonly #audit: AuditParts;
  readonly #options: WorkOptions;
  readonly #sweepMs: number;
  /** Each list has its own, so that none can take the room of another. */
  readonly #tries: { readonly [list in List]-?: Tries };
  /** By app: a sweep that hangs must not stop the work for the others. */
  readonly #sweeps: Tries;
  #stopped: Promise<unknown> | undefined;
  #stop = new AbortController();
  #sweptAt = Number.NEGATIVE_INFINITY;
  #sealedAt = Number.NEGATIVE_INFINITY;
  #tidiedAt: number;

  constructor(input: {
    readonly parts: EngineParts;
    readonly executions: Executions;
    readonly audit: AuditParts;
    readonly options: WorkOptions;
  }) {
    this.#parts = input.parts;
    this.#executions = input.executions;
    this.#audit = input.audit;
    this.#options = input.options;
    this.#sweepMs = this.#options.sweepMs ?? DEFAULT_SWEEP_MS;
    const pauseMs = Math.min(this.#sweepMs, DEFAULT_SWEEP_MS);
    const tries = (): Tries => new Tries(this.#parts.clock, pauseMs);
    this.#sweeps = tries();
    this.#tries = {
      expired: tries(),
      unannounced: tries(),
      lostCalls: tries(),
      readyCalls: tries(),
      lostFrames: tries(),
      readyFrames: tries(),
    };
    this.#tidiedAt = this.#parts.clock.monotonic();
  }

  start(): void {
    if (this.#stopped !== undefined) return;
    const { clock, ledger } = this.#parts;
    const release = clock.hold();
    const onError = (error: unknown): void => this.#options.onError?.(error);
    const counting = keepCounting({ ledger, clock, onError }, this.#stop.signal);
    this.#stopped = Promise.all([this.#loop(), counting]).finally(release);
  }

  /** Takes no new work. What already runs continues. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#stopped;
    await this.#idle();
  }

  /** Does all that is due now, once. */
  async once(): Promise<void> {
    for (let due = await this.round(); due.next !== undefined; ) due = await this.round(due.next);
    await this.#idle();
  }

  /**
   * One round: finds what is due and tries it, up to a limit of each kind. The next round continues where this one
   * ended, so that work that cannot be done here does not hide other work.
   */
  async round(after?: DuePlace): Promise<DueWork> {
    const { ledger, hosts } = this.#parts;
    const due = await ledger.due([...hosts.values()], BATCH, after);
    await this.#tryEach("expired", due.expired, (id) => this.#expire(id));
    await this.#tryEach("unannounced", due.unannounced, (id) => this.#announce(id));
    await this.#tryEach("lostCalls", due.lostCalls, (id) => this.#recover(id));
    const readyCalls = await this.#resume(due.readyCalls);
    await this.#tryEach("lostFrames", due.lostFrames, (id) => this.#takeUp(id));
    const readyFrames = await this.#tryEach("readyFrames", due.readyFrames, (id) => this.#takeUp(id));
    await this.#sweep(after === undefined);
    await this.#attempt(() => this.#sealIfDue());
    await this.#attempt(() => this.#tidyIfDue());
    const { next: _behind, ...found } = due;
    const next = placeAfter(due, after, { readyCalls, readyFrames });
    return next === undefined ? found : { ...found, next };
  }

  async takeUpFrames(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#attempt(() => this.#takeUp(id));
  }

  async #loop(): Promise<void> {
    const { clock, ledger } = this.#parts;
    while (!this.#stop.signal.aborted) {
      const wake = new AbortController();
      // A ledger that must not be used any more refuses this too; the process stays, and is not ready.
      const unsubscribe = await this.#attempt(async () => ledger.onChange(() => wake.abort()));
      let due = await this.#attempt(() => this.round());
      for (let place = due?.next; place !== undefined && !this.#stop.signal.aborted; place = due?.next)
        due = await this.#attempt(() => this.round(place));
      const untilDeadline = due?.nextDeadline === undefined ? this.#sweepMs : due.nextDeadline - due.now;
      const signal = AbortSignal.any([wake.signal, this.#stop.signal]);
      await clock.sleep(Math.min(this.#sweepMs, untilDeadline), signal);
      unsubscribe?.();
      if (wake.signal.aborted) await clock.sleep(BREATH_MS, this.#stop.signal);
    }
  }

  /**
   * `work` tells whether it left what it was to do: for another process, or for later. Returns how many were seen to; the
   * rest has to wait.
   */
  async #tryEach(
    list: List,
    ids: readonly string[],
    work: (id: string) => Promise<{ left: boolean }>,
  ): Promise<number> {
    const attempt = async (id: string): Promise<boolean> =>
      (await this.#attempt(() => work(id)))?.left ?? true;
    return this.#tries[list].each(ids, attempt);
  }

  async #idle(): Promise<void> {
    // In this order: a call whose question expired is ready then.
    for (const tries of [...Object.values(this.#tries), this.#sweeps]) await tries.idle();
  }

  #resume(ids: readonly string[]): Promise<number> {
    return this.#tryEach("readyCalls", ids, (id) => this.#executions.resume(id));
  }

  async #takeUp(id: string): Promise<{ left: boolean }> {
    const { stepping, left = false } = await recoverFrame(this.#parts, id);
    if (stepping !== undefined) this.#executions.step(stepping);
    return { left };
  }

  async #expire(id: string): Promise<{ left: boolean }> {
    const closed = await expire(this.#parts, id);
    if (closed?.stepping !== undefined) this.#executions.step(closed.stepping);
    // Not awaited: its tool may be looked for at length, and other questions expire meanwhile.
    if (closed?.call.status === "ready")
      this.#resume([closed.call.id]).catch((error: unknown) => this.#options.onError?.(error));
    return { left: false };
  }

  async #announce(id: string): Promise<{ left: boolean }> {
    await announce(this.#parts, id);
    return { left: false };
  }

  async #recover(id: string): Promise<{ left: boolean }> {
    const taken = await recoverCall(this.#parts, id);
    if (taken.claimed !== undefined) this.#executions.start(taken.claimed);
    return { left: false };
  }

  /** In a walk through very much work also from time to time. */
  async #sweep(isFirst: boolean): Promise<void> {
    const now = this.#parts.clock.monotonic();
    if (!isFirst && now - this.#sweptAt < this.#sweepMs) return;
    this.#sweptAt = now;
    const { hosts } = this.#parts;
    await this.#sweeps.each([...hosts.keys()], async (app) => {
      await this.#attempt(async () => hosts.get(app)?.sweep?.());
      return false;
    });
  }

  async #sealIfDue(): Promise<void> {
    const now = this.#parts.clock.monotonic();
    if (now - this.#sealedAt < (this.#options.sealMs ?? DEFAULT_SEAL_MS)) return;
    this.#sealedAt = now;
    await seal(this.#audit);
  }

  async #tidyIfDue(): Promise<void> {
    const now = this.#parts.clock.monotonic();
    if (now - this.#tidiedAt < TIDY_MS) return;
    this.#tidiedAt = now;
    this.#executions.forgetOld();
    await this.#parts.ledger.tidy();
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#options.onError?.(error);
      return undefined;
    }
  }
}

/** How many of a page of what is ready were seen to. */
interface Seen {
  readonly readyCalls: number;
  readonly readyFrames: number;
}

/**
 * Where the next round goes on. What is ready and found no room is read again. As long as there is more of what is ready,
 * each round begins with all that is urgent: the walk may be long.
 */
function placeAfter(due: DueWork, after: DuePlace | undefined, seen: Seen): DuePlace | undefined {
  const { readyCalls: _calls, readyFrames: _frames, ...urgent } = due.next ?? {};
  const placeIn = (list: keyof Seen): string | undefined =>
    seen[list] === due[list].length ? due.next?.[list] : (due[list][seen[list] - 1] ?? after?.[list] ?? "");
  const [readyCalls, readyFrames] = [placeIn("readyCalls"), placeIn("readyFrames")];
  if (readyCalls === undefined && readyFrames === undefined) return due.next;
  return {
    ...FRONT,
    ...urgent,
    ...(readyCalls === undefined ? {} : { readyCalls }),
    ...(readyFrames === undefined ? {} : { readyFrames }),
  };
}
