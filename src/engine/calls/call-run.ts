import type { JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import { errorText } from "../common/index.ts";
import { cancelledAnswer, deniedAnswer, EXPIRED_ANSWER } from "../frames/index.ts";
import { type CallRecord, retryUntilStored, type StepRecord, type StepStatus } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { checkedAsk } from "../questions/index.ts";
import {
  type AskOptions,
  CallAbandoned,
  type CallContext,
  ConfirmationRejected,
  OutcomeUnknown,
} from "./call-context.ts";
import { CallEnd } from "./call-end.ts";
import type { Claimed } from "./claim.ts";
import type { Ended } from "./executions.ts";
import { type EntryOutcome, recordEntry } from "./record-entry.ts";
import { askedAgainAfterDenial, type Halt, type OpenAsk, Replay } from "./replay.ts";
import { saveStep, type WorkStep } from "./save-step.ts";
import { storedResult } from "./stored-result.ts";
import { readConfirmation } from "./tool-confirmation.ts";

/** How often a claim is checked before it is released, if each check takes longer than the lease stays fresh. */
const MOST_LOOKS = 3;

/** How often storing the end of a call is retried if the ledger refuses it: about ten seconds in total. */
const MOST_REFUSALS = 8;

/** What can still be stored of a call that became `unknown` meanwhile. */
const MAY_FOLLOW_UNKNOWN: ReadonlySet<EntryOutcome["kind"]> = new Set(["succeeded", "failed", "unknown"]);

/** Stores how a run of the function ended. */
export type StoreEnd = (claimed: Claimed, outcome: EntryOutcome) => Promise<Ended>;

/** One run of a call's function: start it if the claim is still valid, and record how it ends. */
export class CallRun {
  readonly #parts: EngineParts;
  readonly #claimed: Claimed;
  readonly #store: StoreEnd;
  readonly #abort = new AbortController();
  readonly #ended = Promise.withResolvers<EntryOutcome>();
  #isHalted = false;
  /** Why the outcome of a step is unknown. */
  #unknown: string | undefined;
  #replay: Replay | undefined;
  #asked: AskOptions | undefined;

  constructor(parts: EngineParts, claimed: Claimed, store: StoreEnd) {
    this.#parts = parts;
    this.#claimed = claimed;
    this.#store = store;
  }

  async toEnd(): Promise<Ended> {
    const { confirmation, call } = this.#claimed;
    const { id, tool, app } = call;
    const attributes = { "countersign.call": id, "countersign.tool": tool, "countersign.app": app };
    const outcome = await this.#parts.trace({ name: "tool", attributes }, (link) => {
      link?.(confirmation?.traceparent);
      return this.#enter();
    });
    return this.#record(outcome);
  }

  async #enter(): Promise<EntryOutcome> {
    const { call, confirmation, tool } = this.#claimed;
    let entered = false;
    try {
      const steps = call.attempt > 1 ? await this.#parts.ledger.steps(call.id) : [];
      const read = readConfirmation(tool, call, confirmation);
      const decision = read instanceof Promise ? await read : read;
      if (!decision.ok) return failed(decision.answer);
      // This check must come last, because everything before it may have taken any time.
      const isFresh = this.#parts.lease.isFresh(this.#claimed.owner);
      if (!isFresh && !(await this.#stillHolds())) return { kind: "not-started" };
      entered = true;
      return await this.#untilHalted(() => tool.run(call, this.#context(steps, decision.shown)));
    } catch (error) {
      if (entered) return { kind: "unknown", reason: errorText(error) };
      // Nothing has happened yet.
      return { kind: "not-started", error };
    }
  }

  /**
   * A process that was suspended after its claim must not start a call that others may have recovered. A renewed lease
   * is not enough: the call may have been settled, and even run, in between.
   */
  async #stillHolds(): Promise<boolean> {
    const { call, owner } = this.#claimed;
    const { lease, ledger } = this.#parts;
    for (let looks = 0; !lease.isFresh(owner); looks += 1) {
      if (looks === MOST_LOOKS || !(await lease.renew(owner))) return false;
      const [stored] = await ledger.calls([call.id]);
      if (stored === undefined || !this.#holds(stored)) return false;
    }
    return true;
  }

  #holds({ status, attempt, owner }: CallRecord): boolean {
    return status === "executing" && attempt === this.#claimed.call.attempt && owner === this.#claimed.owner;
  }

  async #body(run: () => Promise<JsonValue | undefined | CallEnd>): Promise<EntryOutcome> {
    const { maxResultBytes } = this.#parts.settings;
    try {
      const end = await run();
      if (this.#asked !== undefined) return this.#suspended({ options: this.#asked });
      if (!(end instanceof CallEnd)) return { kind: "succeeded", result: storedResult(end, maxResultBytes) };
      const { delegation, stateDelta, cursor, learned } = end;
      if (delegation !== undefined) return { kind: "delegated", delegation };
      const result = storedResult(end.result, maxResultBytes);
      return {
        kind: "succeeded",
        result,
        stateDelta,
        ...(cursor === undefined ? {} : { cursor }),
        ...(learned === undefined ? {} : { learned }),
      };
    } catch (error) {
      return toOutcome(error);
    }
  }

  #suspended(ask: OpenAsk): EntryOutcome {
    return { kind: "asked", ask: { ...ask, ended: this.#replay?.ended ?? [] } };
  }

  /** What the function comes to, or what its halt does: then what it returns or throws is ignored. */
  #untilHalted(run: () => Promise<JsonValue | undefined | CallEnd>): Promise<EntryOutcome> {
    const { promise, resolve, reject } = this.#ended;
    const end = (outcome: EntryOutcome): void => {
      if (!this.#isHalted) resolve(outcome);
    };
    this.#body(run).then((outcome) => {
      if (this.#isHalted || this.#replay === undefined) return end(outcome);
      // A step that the function did not wait for may still have an effect, or an unknown outcome.
      return this.#replay.close().then(() => end(outcome));
    }, reject);
    return promise;
  }

  #halt(halt: Halt): void {
    if (halt.kind === "unknown") this.#unknown ??= halt.message;
    if (this.#isHalted) return;
    this.#isHalted = true;
    this.#leave(halt).then(this.#ended.resolve, this.#ended.reject);
  }

  async #leave(halt: Halt): Promise<EntryOutcome> {
    // The outcome of a step that is interrupted here would be unknown when the function runs again. One that goes on while
    // a person says that the call did not happen would be started a second time.
    if (halt.kind !== "lost") await this.#replay?.quiet();
    this.#abort.abort(halt.kind === "ask" ? "suspended" : halt.kind);
    if (halt.kind === "lost") return { kind: "lost" };
    // Of any step, also of one that was waited for: a person who is asked, and denies, would hide it.
    if (this.#unknown !== undefined) return { kind: "unknown", reason: this.#unknown };
    switch (halt.kind) {
      case "ask":
        return this.#suspended(halt.ask);
      case "diverged":
        return failed({ error: halt.message, code: "replay-diverged" });
      case "overlap":
        return failed({ error: halt.message });
      case "unknown":
        return { kind: "unknown", reason: halt.message };
    }
  }

  /** Made when the function uses it: most never do. */
  #replayOf(steps: readonly StepRecord[]): Replay {
    const { call } = this.#claimed;
    this.#replay ??= new Replay({
      parts: this.#parts,
      callId: call.id,
      steps,
      holds: (stored) => this.#holds(stored),
      saveStep: (step, from) => this.#saveStep(step, from),
      mayAsk: !call.refused,
      onHalt: (halt) => this.#halt(halt),
    });
    return this.#replay;
  }

  #context(steps: readonly StepRecord[], toolConfirmation: ToolConfirmation | undefined): CallContext {
    const { call, session, frame } = this.#claimed;
    const { signal } = this.#abort;
    return {
      idempotencyKey: call.id,
      attempt: call.attempt,
      callId: call.wireId,
      ...(frame === undefined ? {} : { invocation: frame.invocation }),
      session: { app: session.app, user: session.user, id: session.id },
      signal,
      ...(toolConfirmation === undefined ? {} : { toolConfirmation }),
      step: (name, fn, options) => this.#replayOf(steps).step(name, fn, { ...options, signal }),
      confirm: (name, options = {}) => this.#replayOf(steps).confirm(name, options),
      requestConfirmation: (options = {}) => this.#request(options),
    };
  }

  // Waits while the ledger is unreachable. A claim that was lost meanwhile is noticed when it is back.
  async #saveStep(step: WorkStep, from: StepStatus | undefined): Promise<boolean> {
    const { call } = this.#claimed;
    const what = `store the step "${step.name}" of the call ${call.id} of ${call.tool}`;
    const change = { step, ...(from === undefined ? {} : { from }) };
    const store = (): Promise<boolean> => saveStep(this.#parts, this.#claimed, change);
    const limitMs = this.#parts.settings.storeWithinMs;
    return (await retryUntilStored(this.#parts, { what, store, mostRefusals: 1, limitMs })) ?? false;
  }

  #request(options: AskOptions): void {
    if (this.#claimed.call.refused) throw askedAgainAfterDenial();
    this.#asked = checkedAsk(options);
  }

  async #record(outcome: EntryOutcome): Promise<Ended> {
    const { call } = this.#claimed;
    const what = `store the outcome of call ${call.id} (${call.tool})`;
    const store = (): Promise<Ended> => this.#store(this.#claimed, outcome);
    const unstored = { kind: "unknown", reason: "its outcome is not stored yet" } as const;
    // After that, a result can still be stored, but not a question or a delegation.
    const whenLate = MAY_FOLLOW_UNKNOWN.has(outcome.kind)
      ? { whenLate: () => recordEntry(this.#parts, this.#claimed, unstored) }
      : {};
    try {
      const storing = { what, store, ...whenLate, mostRefusals: MOST_REFUSALS };
      return (await retryUntilStored(this.#parts, storing)) ?? {};
    } catch (error) {
      // The end itself cannot be stored, but the failure can.
      const unknown = {
        kind: "unknown",
        reason: `its outcome could not be stored: ${errorText(error)}`,
      } as const;
      const asUnknown = (): Promise<Ended> => this.#store(this.#claimed, unknown);
      return (await retryUntilStored(this.#parts, { what, store: asUnknown })) ?? {};
    }
  }
}

function failed(error: JsonObject): EntryOutcome {
  return { kind: "failed", error };
}

const STARTED = { attempt: 1 };

// If the tool does not catch the rejection, the default text is used.
function rejectionAnswer({ status, reason }: ConfirmationRejected): JsonObject {
  switch (status) {
    case "denied":
      return deniedAnswer(reason);
    case "expired":
      return EXPIRED_ANSWER;
    case "cancelled":
      return cancelledAnswer(reason ?? "no reason given", STARTED);
  }
}

// A tool may throw any object, even one that throws when it is read.
function toOutcome(error: unknown): EntryOutcome {
  try {
    if (error instanceof OutcomeUnknown) return { kind: "unknown", reason: error.message };
    if (error instanceof CallAbandoned) return { kind: "lost" };
    if (error instanceof ConfirmationRejected) return failed(rejectionAnswer(error));
  } catch {
    // Then it is not one of our errors.
  }
  return failed({ error: errorText(error) });
}
