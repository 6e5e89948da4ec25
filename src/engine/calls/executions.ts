import { errorText, unlessClosed } from "../common/index.ts";
import { finishFrame, SessionCache } from "../frames/index.ts";
import {
  type CallRecord,
  type Committed,
  type Draft,
  type FrameRecord,
  retryUntilStored,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { AskedCall } from "../questions/index.ts";
import { CallRun, type StoreEnd } from "./call-run.ts";
import type { Claimed } from "./claim.ts";
import { type KnownClaim, Outcomes } from "./claim-outcomes.ts";
import { claimReady } from "./claim-ready.ts";
import { Endings } from "./endings.ts";
import { recordEntry } from "./record-entry.ts";

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
  readonly #invocations = new Map<string, Run>();
  readonly #sessions = new Map<string, Set<Run>>();
  readonly #endings: Endings;
  readonly #outcomes: Outcomes;
  /** Calls that are between their claim and their stored end, and frames in their step; each with how often. */
  readonly #atWork = new Map<string, number>();
  readonly #claimed = new Set<Claimed>();
  /** Frames that this process has yet to step, or is stepping, as it committed them. */
  readonly #steps = new Map<string, Committed<FrameRecord>>();
  /** Claims that were taken back before they began. */
  readonly #forbidden = new Set<string>();
  /** Lets the process end. What runs here has an end to record, whatever it waits for meanwhile. */
  #release: (() => void) | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#outcomes = new Outcomes(parts.clock, parts.ledger);
    this.#endings = new Endings(parts);
  }

  get size(): number {
    return this.#running.size;
  }

  /** Runs a claimed call to its end, and then the frame's next step if that fell to us. Never rejects. */
  start(claimed: Claimed): void {
    const { call, frame } = claimed;
    if (this.#forbidden.has(`${call.id} ${call.attempt}`)) return;
    const store: StoreEnd = (_claimed, outcome) => {
      this.#outcomes.keep({ claimed, outcome });
      return this.#endings.store(claimed, outcome);
    };
    this.#claimed.add(claimed);
    const ended = this.#whileAtWork(call.id, () => new CallRun(this.#parts, claimed, store).toEnd()).finally(
      () => this.#claimed.delete(claimed),
    );
    this.#track(call.id, ended, { ...placeOf(call, frame), draft: claimed.draft });
  }

  /** Records once more how this attempt ended, if that is known here: the ledger has lost it. */
  recordAgain(callId: string, attempt: number): boolean {
    const known = this.#outcomes.of({ id: callId, attempt });
    if (known === undefined) return false;
    const { claimed, outcome } = known;
    const record = async (): Promise<Ended> =>
      (await retryUntilStored(this.#parts, {
        what: `the outcome of call ${callId}`,
        store: () => recordEntry(this.#parts, claimed, outcome),
      })) ?? {};
    this.#track(callId, this.#whileAtWork(callId, record), placeOf(claimed.call, claimed.frame));
    return true;
  }

  /** What runs here, and what ended here lately. */
  recentClaims(): readonly KnownClaim[] {
    const running = [...this.#claimed].map((claimed) => ({ claimed }));
    const isRunning = ({ claimed }: KnownClaim): boolean => this.#claimed.has(claimed);
    return [...this.#outcomes.all.filter((end) => !isRunning(end)), ...running];
  }

  /** Is this process at work on the call, or on the frame's step? */
  isAtWork(id: string): boolean {
    return this.#atWork.has(id);
  }

  /** An attempt that was taken back must not begin any more. */
  forbid(callId: string, attempt: number): void {
    this.#forbidden.add(`${callId} ${attempt}`);
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
    const place = { ...placeOf(frame, frame), draft: this.#committed(frame)?.draft };
    this.#track(frame.id, Promise.resolve({ stepping: frame }), place);
  }

  /** Resolves when the call, and what followed from it here, is done; at once if it does not run here. Rejects if the engine closes. */
  async settled(id: string): Promise<void> {
    for (let running = this.#running.get(id); running !== undefined; running = this.#running.get(id))
      await unlessClosed(this.#parts.closed, running);
  }

  /** Resolves when nothing of this invocation runs here any more, to what was committed here while it ran. */
  async settledIn(invocation: string): Promise<SessionCache | undefined> {
    let cache: SessionCache | undefined;
    for (
      let work = this.#invocations.get(invocation);
      work !== undefined;
      work = this.#invocations.get(invocation)
    ) {
      ({ cache } = work);
      await unlessClosed(this.#parts.closed, Promise.all(work.running));
    }
    return cache;
  }

  /** Keeps what was committed for the steps that begin with it, and for whoever waits for the work in that session. */
  committed(draft: Draft): void {
    for (const record of draft.steps) this.#steps.set(record.id, { record, draft });
    for (const { cache } of this.#sessions.get(draft.sessionKey) ?? []) cache.add(draft);
  }

  /** Gives the commit that left a frame as it is, for one command that starts from it. */
  takeStep(frame: FrameRecord): Committed<FrameRecord> | undefined {
    const committed = this.#committed(frame);
    if (committed !== undefined) this.#steps.delete(frame.id);
    return committed;
  }

  /** What this process has committed while it was at work on an invocation. */
  cacheOf(invocation: string): SessionCache | undefined {
    return this.#invocations.get(invocation)?.cache;
  }

  /** Resolves when nothing runs here any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #whileAtWork<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#atWork.set(id, (this.#atWork.get(id) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#atWork.get(id) ?? 1) - 1;
      if (left === 0) this.#atWork.delete(id);
      else this.#atWork.set(id, left);
    }
  }

  // This very record: a copy may have been changed.
  #committed(frame: FrameRecord): Committed<FrameRecord> | undefined {
    const committed = this.#steps.get(frame.id);
    return committed?.record === frame ? committed : undefined;
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
        errorMessage: errorText(error),
      };
      await retryUntilStored(this.#parts, {
        what: `the failed step of ${frame.agent} (${frame.id})`,
        store: () => finishFrame(this.#parts, frame, { event, status: "failed" }),
      });
    } finally {
      this.takeStep(frame);
    }
  }

  #track(id: string, work: Promise<Ended>, place: Place): void {
    const release = this.#parts.lease.keep();
    const done = work.then(async ({ call, stepping, asked }) => {
      if (asked !== undefined) this.#parts.hosts.get(asked.call.app)?.asked?.(asked);
      if (stepping !== undefined) await this.#whileAtWork(stepping.id, () => this.#stepTo(stepping));
      // Given back unstarted, because the lease was lost: try once more under a new one.
      if (call?.status === "ready") this.pursue(call.id);
    });
    this.#remember(id, done.finally(release), place);
  }

  #remember(id: string, work: Promise<void>, place: Place = NOWHERE): void {
    const run = this.#invocations.get(place.invocation) ?? this.#begin(place);
    if (place.draft !== undefined) run.cache.add(place.draft);
    const tracked = work.finally(() => {
      if (this.#running.get(id) === tracked) this.#running.delete(id);
      if (this.#running.size === 0) this.#letGo();
      run.running.delete(tracked);
      if (run.running.size === 0) this.#end(place, run);
    });
    this.#running.set(id, tracked);
    this.#release ??= this.#parts.clock.hold();
    run.running.add(tracked);
  }

  #letGo(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #begin({ session, invocation }: Place): Run {
    const run: Run = { running: new Set(), cache: new SessionCache() };
    this.#invocations.set(invocation, run);
    this.#sessions.set(session, (this.#sessions.get(session) ?? new Set()).add(run));
    return run;
  }

  #end({ session, invocation }: Place, run: Run): void {
    this.#invocations.delete(invocation);
    const others = this.#sessions.get(session);
    others?.delete(run);
    if (others?.size === 0) this.#sessions.delete(session);
  }
}

/** What runs here of one invocation. */
interface Run {
  readonly running: Set<Promise<void>>;
  readonly cache: SessionCache;
}

/** What a piece of work belongs to, and the draft that set it going. */
interface Place {
  readonly session: string;
  readonly invocation: string;
  readonly draft?: Draft | undefined;
}

// For what is no agent's.
const NOWHERE: Place = { session: "", invocation: "" };

function placeOf({ session }: { readonly session: string }, frame: FrameRecord | undefined): Place {
  return frame === undefined ? NOWHERE : { session, invocation: frame.invocation };
}
