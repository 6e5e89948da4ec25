import type { AskedCall } from "./ask.ts";
import { CallRun } from "./call-run.ts";
import type { Claimed } from "./claim.ts";
import { claimReady } from "./claim-ready.ts";
import { finishFrame } from "./frames.ts";
import type { EngineParts } from "./parts.ts";
import type { CallRecord, FrameRecord } from "./records.ts";
import { untilStored } from "./until-stored.ts";

/** How one entry into a call's body ended, as committed. */
export interface Ended {
  /** Undefined when the ledger had already moved on without us. */
  readonly call?: CallRecord;
  readonly stepping?: FrameRecord;
  /** The question that the body put. */
  readonly asked?: AskedCall;
}

/** What this process is running. In memory only: after a crash the ledger says what was. */
export class Executions {
  readonly #parts: EngineParts;
  readonly #running = new Map<string, Promise<void>>();
  readonly #invocations = new Map<string, Set<Promise<void>>>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Runs a claimed call to its end, and then the frame's next step if that fell to us. Never rejects. */
  start(claimed: Claimed): void {
    const ended = new CallRun(this.#parts, claimed).toEnd();
    this.#track(claimed.call.id, ended, claimed.frame?.invocation);
  }

  /** Claims an approved call and runs it, if it is free and this process can. */
  async resume(callId: string): Promise<void> {
    const attributes = { "countersign.call": callId };
    const taken = await this.#parts.trace({ name: "claim", attributes }, () =>
      claimReady(this.#parts, callId),
    );
    if (taken.claimed !== undefined) this.start(taken.claimed);
    if (taken.stepping !== undefined) this.step(taken.stepping);
  }

  /** As `resume`, without waiting. What fails here is still ready in the ledger, for any worker to take. */
  pursue(callId: string): void {
    this.#remember(
      callId,
      this.resume(callId).catch(() => {}),
    );
  }

  /** Lets the host go on with a frame that this process has claimed. */
  step(frame: FrameRecord): void {
    this.#track(frame.id, Promise.resolve({ stepping: frame }), frame.invocation);
  }

  /** Resolves when the call, and what followed from it here, is done; at once if it does not run here. */
  async settled(id: string): Promise<void> {
    for (let running = this.#running.get(id); running !== undefined; running = this.#running.get(id))
      await running;
  }

  /** Resolves when nothing of this invocation runs here any more. */
  async settledIn(invocation: string): Promise<void> {
    for (
      let running = this.#invocations.get(invocation);
      running !== undefined;
      running = this.#invocations.get(invocation)
    ) {
      await Promise.all(running);
    }
  }

  /** Resolves when nothing runs here any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #stepTo(frame: FrameRecord): Promise<void> {
    try {
      await this.#parts.hosts.get(frame.app)?.step?.(frame);
    } catch (error) {
      // The frame is ours and our lease lives on: left as it is, nobody would ever take it up.
      const event = {
        author: frame.agent,
        invocationId: frame.invocation,
        errorCode: "internal",
        errorMessage: String(error),
      };
      await untilStored(this.#parts.clock, () =>
        finishFrame(this.#parts, frame, { event, status: "failed" }),
      );
    }
  }

  #track(id: string, work: Promise<Ended>, invocation: string | undefined): void {
    const release = this.#parts.lease.keep();
    const done = work.then(async ({ call, stepping, asked }) => {
      if (asked !== undefined) this.#parts.hosts.get(asked.call.app)?.asked?.(asked);
      if (stepping !== undefined) await this.#stepTo(stepping);
      // Given back unstarted, because the lease was lost: try once more under a new one.
      if (call?.status === "ready") this.pursue(call.id);
    });
    this.#remember(id, done.finally(release), invocation);
  }

  #remember(id: string, work: Promise<void>, invocation = ""): void {
    const others = this.#invocations.get(invocation) ?? new Set();
    const tracked = work.finally(() => {
      if (this.#running.get(id) === tracked) this.#running.delete(id);
      others.delete(tracked);
      if (others.size === 0) this.#invocations.delete(invocation);
    });
    this.#running.set(id, tracked);
    this.#invocations.set(invocation, others.add(tracked));
  }
}
