import { errorText, TransientMap } from "../common/index.ts";
import { finishFrame, type SessionCache } from "../frames/index.ts";
import {
  type CallRecord,
  type Committed,
  type Draft,
  type FrameRecord,
  isLedgerAway,
  retryUntilStored,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { AskedCall } from "../questions/index.ts";
import { CallRun, type StoreEnd } from "./call-run.ts";
import { CallerClaims } from "./caller-claims.ts";
import type { Claimed } from "./claim.ts";
import { type KnownClaim, Outcomes } from "./claim-outcomes.ts";
import { claimReady } from "./claim-ready.ts";
import { Endings } from "./endings.ts";
import { type EntryOutcome, recordEntry } from "./record-entry.ts";
import { type Place, placeOf, RunningWork } from "./running-work.ts";

/** How long to wait before a step is taken again. */
const RETRY_STEP_MS = 500;
const LONGEST_RETRY_MS = 10_000;
/** A claim starts within moments or never, so the newest are enough. */
const MOST_FORBIDDEN = 10_000;

/** How one run of a call's function ended, as committed. */
export interface Ended {
  /** Undefined if the call was no longer ours. */
  readonly call?: CallRecord;
  readonly stepping?: FrameRecord;
  /** The question that the function asked. */
  readonly asked?: AskedCall;
}

/** What this process is running. Only in memory: after a crash, the ledger says what was running. */
export class Executions {
  readonly #parts: EngineParts;
  readonly #work: RunningWork;
  readonly #endings: Endings;
  readonly #outcomes: Outcomes;
  /** Calls between their claim and their stored end, and frames in a step; each with a count. */
  readonly #atWork = new TransientMap<string, number>();
  readonly #claimed = new TransientMap<Claimed, true>();
  /** Claims that this process gave to callers. */
  readonly callerClaims: CallerClaims;
  /** Frames that this process will step or is stepping, as it committed them. */
  readonly #steps = new TransientMap<string, Committed<FrameRecord>>();
  /** Claims that were withdrawn before the call started. */
  readonly #forbidden = new Set<string>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#work = new RunningWork(parts);
    this.#outcomes = new Outcomes(parts.clock, parts.ledger);
    this.callerClaims = new CallerClaims(parts.clock, parts.ledger);
    this.#endings = new Endings(parts);
  }

  get size(): number {
    return this.#work.size;
  }

  /** Runs a claimed call as `start` does. Resolves to how it ended, as committed here. Rejects if the engine closes. */
  async run(claimed: Claimed): Promise<Ended> {
    let ended: Ended = {};
    this.start(claimed, (end) => {
      ended = end;
    });
    await this.settled(claimed.call.id);
    return ended;
  }

  /** Runs a claimed call to its end, and then the frame's next step if this process claimed it. Never rejects. */
  start(claimed: Claimed, onEnd: (ended: Ended) => void = () => {}): void {
    const { call, frame } = claimed;
    if (this.#forbidden.has(`${call.id} ${call.attempt}`)) return;
    const store: StoreEnd = (_claimed, outcome) => {
      this.#outcomes.keep({ claimed, outcome });
      return this.#endings.store(claimed, outcome);
    };
    const run = async (): Promise<Ended> => {
      this.#claimed.set(claimed, true);
      this.#beginWork(call.id);
      try {
        const ended = await new CallRun(this.#parts, claimed, store).toEnd();
        onEnd(ended);
        return ended;
      } finally {
        this.#endWork(call.id);
        this.#claimed.delete(claimed);
      }
    };
    this.#track(call.id, run, { ...placeOf(call, frame), draft: claimed.draft });
  }

  /** Records again how this attempt ended, if this process knows it: the ledger has lost it. */
  recordAgain(callId: string, attempt: number): boolean {
    const known = this.#outcomes.of({ id: callId, attempt });
    if (known === undefined) return false;
    const { claimed, outcome } = known;
    const record = async (): Promise<Ended> =>
      (await retryUntilStored(this.#parts, {
        what: `store the outcome of call ${callId}`,
        store: () => recordEntry(this.#parts, claimed, outcome),
      })) ?? {};
    const work = (): Promise<Ended> => this.#whileAtWork(callId, record);
    this.#track(callId, work, placeOf(claimed.call, claimed.frame));
    return true;
  }

  /** A caller reported the end of a call that it claimed here. */
  callerEnded(claimed: Claimed, outcome: EntryOutcome): void {
    this.callerClaims.drop(claimed.call);
    this.#outcomes.keep({ claimed, outcome });
  }

  /** What runs in this process or was claimed through it, and what ended here in the last minutes. */
  recentClaims(): readonly KnownClaim[] {
    const running = Array.from(this.#claimed.keys(), (claimed) => ({ claimed }));
    const calls = new Set(running.map(({ claimed }) => claimed.call));
    const ended = this.#outcomes.all.filter(({ claimed }) => !calls.has(claimed.call));
    return [...ended, ...this.callerClaims.all, ...running];
  }

  /** Is this process at work on the call, or on the frame's step? */
  isAtWork(id: string): boolean {
    return this.#atWork.has(id);
  }

  /** An attempt that was withdrawn must not start. */
  forbid(callId: string, attempt: number): void {
    this.#forbidden.add(`${callId} ${attempt}`);
    const [oldest = ""] = this.#forbidden;
    if (this.#forbidden.size > MOST_FORBIDDEN) this.#forbidden.delete(oldest);
  }

  /** Claims an approved call and runs it, if it is free and this process can. Tells whether it is still free. */
  async resume(callId: string): Promise<{ left: boolean }> {
    const attributes = { "countersign.call": callId };
    const taken = await this.#parts.trace({ name: "claim", attributes }, async (link) => {
      const found = await claimReady(this.#parts, callId);
      link?.(found.claimed?.confirmation?.traceparent);
      return found;
    });
    if (taken.claimed !== undefined) this.start(taken.claimed);
    if (taken.stepping !== undefined) this.step(taken.stepping);
    return { left: taken.call?.status === "ready" };
  }

  /**
   * Like `resume`, without waiting. If it fails, the call is still ready in the ledger, and any worker can claim it.
   */
  pursue(callId: string): void {
    this.#work.start(callId, () =>
      this.resume(callId).then(
        () => {},
        () => {},
      ),
    );
  }

  /** Lets the host continue a frame that this process has claimed. */
  step(frame: FrameRecord): void {
    const place = { ...placeOf(frame, frame), draft: this.#committed(frame)?.draft };
    this.#track(frame.id, async () => ({ stepping: frame }), place);
  }

  /**
   * Resolves when the call, and the steps that follow from it in this process, are done; at once if it does not run
   * here. Rejects if the engine closes.
   */
  settled(id: string): Promise<void> {
    return this.#work.settled(id);
  }

  /** Resolves when nothing of this invocation runs here any more, to what was committed here while it ran. */
  settledIn(invocation: string): Promise<SessionCache | undefined> {
    return this.#work.settledIn(invocation);
  }

  /** Keeps what was committed, for the steps that start from it and for callers that wait for the session's work. */
  committed(draft: Draft): void {
    for (const record of draft.steps) this.#steps.set(record.id, { record, draft });
    this.#work.committed(draft);
    if (!draft.isErased) return;
    // What was erased must not be found in memory either.
    this.#outcomes.erase(draft.sessionKey);
    this.callerClaims.erase(draft.sessionKey);
  }

  /** Removes what is kept of sessions only to save reading: another process may have erased them. */
  forgetOld(): void {
    this.#work.forgetOld();
    this.#outcomes.forgetOld();
  }

  /** Returns the commit that last changed a frame, for one command that starts from it. */
  takeStep(frame: FrameRecord): Committed<FrameRecord> | undefined {
    const committed = this.#committed(frame);
    if (committed !== undefined) this.#steps.delete(frame.id);
    return committed;
  }

  /** What this process committed while it worked on an invocation. */
  cacheOf(invocation: string): SessionCache | undefined {
    return this.#work.cacheOf(invocation);
  }

  /** Resolves when nothing runs here any more. */
  idle(): Promise<void> {
    return this.#work.idle();
  }

  async #whileAtWork<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#beginWork(id);
    try {
      return await work();
    } finally {
      this.#endWork(id);
    }
  }

  #beginWork(id: string): void {
    this.#atWork.set(id, (this.#atWork.get(id) ?? 0) + 1);
  }

  #endWork(id: string): void {
    const left = (this.#atWork.get(id) ?? 1) - 1;
    if (left === 0) this.#atWork.delete(id);
    else this.#atWork.set(id, left);
  }

  // Compared by identity, because a copy may have been changed.
  #committed(frame: FrameRecord): Committed<FrameRecord> | undefined {
    const committed = this.#steps.get(frame.id);
    return committed?.record === frame ? committed : undefined;
  }

  async #stepTo(frame: FrameRecord): Promise<void> {
    try {
      const { clock, gaveUp, settings } = this.#parts;
      const { maxLostAttempts } = settings;
      let stepping: FrameRecord | undefined = frame;
      for (let tries = 1; stepping !== undefined; tries++) {
        // Each try asks the model again: where the ledger can be read and not written, that must not happen at once.
        if (tries > 1)
          await clock.sleep(Math.min(RETRY_STEP_MS * 2 ** (tries - 2), LONGEST_RETRY_MS), gaveUp);
        stepping = await this.#tryStep(stepping, tries < maxLostAttempts);
      }
    } finally {
      this.takeStep(frame);
    }
  }

  /** Returns the frame if the ledger failed during the step, and it is to be taken again. */
  async #tryStep(frame: FrameRecord, mayRepeat: boolean): Promise<FrameRecord | undefined> {
    try {
      await this.#parts.hosts.get(frame.app)?.step?.(frame);
      return undefined;
    } catch (error) {
      // Nothing is wrong with the step, and nothing of it was stored.
      if (mayRepeat && isLedgerAway(error)) return this.#ourStep(frame);
      // This process owns the frame and its lease stays valid, so no other process would ever continue it.
      const event = {
        author: frame.agent,
        invocationId: frame.invocation,
        errorCode: "internal",
        errorMessage: errorText(error),
      };
      await retryUntilStored(this.#parts, {
        what: `store the failed step of ${frame.agent} (${frame.id})`,
        store: () => finishFrame(this.#parts, frame, { event, status: "failed" }),
      });
      return undefined;
    }
  }

  /** The frame as it is now, once the ledger answers, if this process still has to step it and nothing else here does. */
  async #ourStep({ id, agent, owner }: FrameRecord): Promise<FrameRecord | undefined> {
    const { frame } =
      (await retryUntilStored(this.#parts, {
        what: `read the step of ${agent} (${id})`,
        store: () => this.#parts.ledger.load({ frame: id }),
      })) ?? {};
    const isOurs = frame?.status === "stepping" && frame.owner === owner && this.#atWork.get(id) === 1;
    return isOurs ? frame : undefined;
  }

  #track(id: string, work: () => Promise<Ended>, place: Place): void {
    this.#work.start(id, () => this.#toRest(work), place);
  }

  /** Does the work, and then the step that follows from it. */
  async #toRest(work: () => Promise<Ended>): Promise<void> {
    const release = this.#parts.lease.keep();
    try {
      const { call, stepping, asked } = await work();
      if (asked !== undefined) this.#parts.hosts.get(asked.call.app)?.asked?.(asked);
      if (stepping !== undefined) await this.#whileAtWork(stepping.id, () => this.#stepTo(stepping));
      // Released without being started, because the lease was lost: try again with a new lease.
      if (call?.status === "ready") this.pursue(call.id);
    } finally {
      release();
    }
  }
}
