import { CallRun } from "./call-run.ts";
import type { Claimed } from "./claim.ts";
import { claimReady } from "./claim-ready.ts";
import type { EngineParts } from "./parts.ts";
import type { CallRecord, FrameRecord } from "./records.ts";

/** How one entry into a call's body ended, as committed. */
export interface Ended {
  /** Undefined when the ledger had already moved on without us. */
  readonly call?: CallRecord;
  readonly stepping?: FrameRecord;
}

/** What this process is running. In memory only: after a crash the ledger says what was. */
export class Executions {
  readonly #parts: EngineParts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Runs a claimed call to its end, and then the frame's next step if that fell to us. Never rejects. */
  start(claimed: Claimed): void {
    const release = this.#parts.lease.keep();
    this.#track(claimed.call.id, new CallRun(this.#parts, claimed).toEnd(), release);
  }

  /** Claims an approved call and runs it, if it is free and this process can. */
  async resume(callId: string): Promise<void> {
    const taken = await claimReady(this.#parts, callId);
    if (taken.claimed !== undefined) this.start(taken.claimed);
    if (taken.stepping !== undefined) this.step(taken.stepping);
  }

  /** As `resume`, without waiting. What fails here is still ready in the ledger, for any worker to take. */
  pursue(callId: string): void {
    this.resume(callId).catch(() => {});
  }

  /** Lets the host go on with a frame that this process has claimed. */
  step(frame: FrameRecord): void {
    const release = this.#parts.lease.keep();
    this.#track(frame.id, Promise.resolve({ stepping: frame }), release);
  }

  /** Resolves when the call, and what followed from it here, is done; at once if it does not run here. */
  async settled(id: string): Promise<void> {
    for (let running = this.#running.get(id); running !== undefined; running = this.#running.get(id))
      await running;
  }

  /** Resolves when nothing runs here any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  #track(id: string, work: Promise<Ended>, release: () => void): void {
    const done = work.then(async ({ call, stepping }) => {
      if (stepping !== undefined) await this.#parts.hosts.get(stepping.app)?.step?.(stepping);
      // Given back unstarted, because the lease was lost: try once more under a new one.
      if (call?.status === "ready") await this.resume(call.id);
    });
    const tracked = done.finally(() => {
      if (this.#running.get(id) === tracked) this.#running.delete(id);
      release();
    });
    this.#running.set(id, tracked);
  }
}
