import { type AuditParts, seal } from "../audit/index.ts";
import type { Executions } from "../calls/index.ts";
import type { DueWork } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { expire } from "../questions/index.ts";
import { recoverCall, recoverFrame } from "./recover.ts";

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

/**
 * Does the work that no process is doing. Its timers only say when to look: what is due is stored in the ledger, so an
 * extra look does nothing, and a missed one is made up by the next.
 */
export class Worker {
  readonly #parts: EngineParts;
  readonly #executions: Executions;
  readonly #audit: AuditParts;
  readonly #options: WorkOptions;
  #stopped: Promise<void> | undefined;
  #stop = new AbortController();
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
    this.#tidiedAt = this.#parts.clock.monotonic();
  }

  start(): void {
    if (this.#stopped !== undefined) return;
    const release = this.#parts.clock.hold();
    this.#stopped = this.#loop().finally(release);
  }

  /** Takes no new work. What already runs continues. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#stopped;
  }

  /** One round: finds what is due and does it. Resolves to the next deadline, if there is one. */
  async round(): Promise<DueWork> {
    const { ledger, hosts } = this.#parts;
    const due = await ledger.due([...hosts.values()], BATCH);
    for (const id of due.expired) await this.#attempt(() => this.#expire(id));
    for (const id of due.lostCalls) await this.#attempt(() => this.#recover(id));
    for (const id of due.readyCalls) await this.#attempt(() => this.#executions.resume(id));
    await this.takeUpFrames([...due.lostFrames, ...due.readyFrames]);
    for (const host of hosts.values()) await this.#attempt(async () => host.sweep?.());
    await this.#attempt(() => this.#sealIfDue());
    await this.#attempt(() => this.#tidyIfDue());
    return due;
  }

  async takeUpFrames(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await this.#attempt(async () => {
        const frame = await recoverFrame(this.#parts, id);
        if (frame !== undefined) this.#executions.step(frame);
      });
    }
  }

  async #loop(): Promise<void> {
    const { clock, ledger } = this.#parts;
    let before: DueWork | undefined;
    while (!this.#stop.signal.aborted) {
      const wake = new AbortController();
      const unsubscribe = ledger.onChange(() => wake.abort());
      const due = await this.#attempt(() => this.round());
      // After a full batch there may be more, unless it is the same batch that failed the last time.
      const more = due !== undefined && isFull(due) && !isSameWork(due, before);
      before = due;
      const sweepMs = this.#options.sweepMs ?? DEFAULT_SWEEP_MS;
      const untilDeadline = due?.nextDeadline === undefined ? sweepMs : due.nextDeadline - due.now;
      const signal = AbortSignal.any([wake.signal, this.#stop.signal]);
      if (!more) await clock.sleep(Math.min(sweepMs, untilDeadline), signal);
      unsubscribe();
      if (wake.signal.aborted) await clock.sleep(BREATH_MS, this.#stop.signal);
    }
  }

  async #expire(id: string): Promise<void> {
    const closed = await expire(this.#parts, id);
    if (closed?.stepping !== undefined) this.#executions.step(closed.stepping);
    if (closed?.call.status === "ready") await this.#executions.resume(closed.call.id);
  }

  async #recover(id: string): Promise<void> {
    const taken = await recoverCall(this.#parts, id);
    if (taken.claimed !== undefined) this.#executions.start(taken.claimed);
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

function isFull(due: DueWork): boolean {
  return listsOf(due).some((list) => list.length >= BATCH);
}

function isSameWork(due: DueWork, before: DueWork | undefined): boolean {
  return before !== undefined && JSON.stringify(listsOf(due)) === JSON.stringify(listsOf(before));
}

function listsOf(due: DueWork): readonly (readonly string[])[] {
  return [due.expired, due.lostCalls, due.readyCalls, due.lostFrames, due.readyFrames];
}
