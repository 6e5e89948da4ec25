import type { JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import { errorText } from "../common/index.ts";
import { cancelledAnswer, deniedAnswer, EXPIRED_ANSWER } from "../frames/index.ts";
import { retryUntilStored, type StepStatus } from "../ledger/index.ts";
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
import { keptResult } from "./kept-result.ts";
import { type EntryOutcome, recordEntry } from "./record-entry.ts";
import { askedAgainAfterDenial, type Halt, Replay } from "./replay.ts";
import { saveStep, type WorkStep } from "./save-step.ts";
import { readConfirmation } from "./tool-confirmation.ts";

/** How often a claim is looked after before it is given back, where each look takes longer than a lease is fresh. */
const MOST_LOOKS = 3;

/** How often the end of a call is offered to a ledger that refuses it: about ten seconds long. */
const MOST_REFUSALS = 8;

/** What is still stored of a call that is `unknown` meanwhile. */
const MAY_FOLLOW_DOUBT: ReadonlySet<EntryOutcome["kind"]> = new Set(["succeeded", "failed", "unknown"]);

/** Puts the end of an entry into the ledger. */
export type StoreEnd = (claimed: Claimed, outcome: EntryOutcome) => Promise<Ended>;

/** One entry into a call's body: start it if the claim still holds, see how it ends, record that. */
export class CallRun {
  readonly #parts: EngineParts;
  readonly #claimed: Claimed;
  readonly #store: StoreEnd;
  readonly #abort = new AbortController();
  #halt: (halt: Halt) => void = () => {};
  #isHalted = false;
  #asked: AskOptions | undefined;

  constructor(parts: EngineParts, claimed: Claimed, store: StoreEnd) {
    this.#parts = parts;
    this.#claimed = claimed;
    this.#store = store;
  }

  async toEnd(): Promise<Ended> {
    const { id, tool, app } = this.#claimed.call;
    const attributes = { "countersign.call": id, "countersign.tool": tool, "countersign.app": app };
    return this.#record(await this.#parts.trace({ name: "tool", attributes }, () => this.#enter()));
  }

  async #enter(): Promise<EntryOutcome> {
    const { call, confirmation, tool } = this.#claimed;
    let entered = false;
    try {
      const steps = call.attempt > 1 ? await this.#parts.ledger.steps(call.id) : [];
      const decision = await readConfirmation(tool, call, confirmation);
      if (!decision.ok) return { kind: "failed", error: decision.answer };
      const replay = new Replay({
        parts: this.#parts,
        callId: call.id,
        steps,
        saveStep: (step, from) => this.#saveStep(step, from),
        mayAsk: !call.refused,
        onHalt: (halt) => this.#halt(halt),
      });
      // Last of all: whatever came before may have taken any time.
      if (!(await this.#stillHolds())) return { kind: "not-started" };
      entered = true;
      return await this.#untilHalted(replay, () =>
        this.#body(() => tool.run(call, this.#context(replay, decision.shown))),
      );
    } catch (error) {
      if (entered) return { kind: "unknown", reason: errorText(error) };
      // Nothing has happened yet.
      return { kind: "not-started", error };
    }
  }

  /**
   * A process that was stopped since its claim must not start what others may have given up on. A renewed
   * lease alone does not show that: the call may have been settled, and even run, in between.
   */
  async #stillHolds(): Promise<boolean> {
    const { call, owner } = this.#claimed;
    const { lease, ledger } = this.#parts;
    for (let looks = 0; !lease.isFresh(owner); looks += 1) {
      if (looks === MOST_LOOKS || !(await lease.renew(owner))) return false;
      const [stored] = await ledger.calls([call.id]);
      if (stored?.status !== "executing" || stored.attempt !== call.attempt || stored.owner !== owner)
        return false;
    }
    return true;
  }

  async #body(run: () => Promise<JsonValue | undefined | CallEnd>): Promise<EntryOutcome> {
    const { maxResultBytes } = this.#parts.settings;
    try {
      const end = await this.#unlessHalted(run());
      if (this.#asked !== undefined) return { kind: "asked", ask: { options: this.#asked } };
      if (!(end instanceof CallEnd)) return { kind: "succeeded", result: keptResult(end, maxResultBytes) };
      const { delegation, stateDelta, cursor, learned } = end;
      if (delegation !== undefined) return { kind: "delegated", delegation };
      const result = keptResult(end.result, maxResultBytes);
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

  /** What the body comes to, or what its halt does. */
  #untilHalted(replay: Replay, body: () => Promise<EntryOutcome>): Promise<EntryOutcome> {
    return new Promise((resolve, reject) => {
      this.#halt = (halt) => {
        if (this.#isHalted) return;
        this.#isHalted = true;
        this.#leave(halt, replay).then(resolve, reject);
      };
      body().then(resolve, reject);
    });
  }

  // What an abandoned body returns or throws is nobody's answer.
  async #unlessHalted<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } finally {
      if (this.#isHalted) await new Promise(() => {});
    }
  }

  async #leave(halt: Halt, replay: Replay): Promise<EntryOutcome> {
    // A step that is cut short here would be in doubt when the body is entered again.
    if (halt.kind === "ask") await replay.quiet();
    this.#abort.abort(halt.kind === "ask" ? "suspended" : halt.kind);
    switch (halt.kind) {
      case "ask":
        return { kind: "asked", ask: halt.ask };
      case "diverged":
        return { kind: "failed", error: { error: halt.message, code: "replay-diverged" } };
      case "unknown":
        return { kind: "unknown", reason: halt.message };
      case "lost":
        return { kind: "lost" };
    }
  }

  #context(replay: Replay, toolConfirmation: ToolConfirmation | undefined): CallContext {
    const { call, session, frame } = this.#claimed;
    const signal = this.#abort.signal;
    return {
      idempotencyKey: call.id,
      attempt: call.attempt,
      callId: call.wireId,
      ...(frame === undefined ? {} : { invocation: frame.invocation }),
      session: { app: session.app, user: session.user, id: session.id },
      signal,
      ...(toolConfirmation === undefined ? {} : { toolConfirmation }),
      step: (name, fn, options) => replay.step(name, fn, { ...options, signal }),
      confirm: (name, options = {}) => replay.confirm(name, options),
      requestConfirmation: (options = {}) => this.#request(options),
    };
  }

  // A ledger that is away for a while is waited for. A claim that is lost meanwhile is noticed when it is back.
  async #saveStep(step: WorkStep, from: StepStatus | undefined): Promise<boolean> {
    const { call } = this.#claimed;
    const what = `the step "${step.name}" of the call ${call.id} of ${call.tool}`;
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
    const what = `the outcome of call ${call.id} (${call.tool})`;
    const store = (): Promise<Ended> => this.#store(this.#claimed, outcome);
    const unstored = { kind: "unknown", reason: "its outcome is not stored yet" } as const;
    // A question or a delegation could not be stored after that any more; a result can.
    const whenLate = MAY_FOLLOW_DOUBT.has(outcome.kind)
      ? { whenLate: () => recordEntry(this.#parts, this.#claimed, unstored) }
      : {};
    try {
      const storing = { what, store, ...whenLate, mostRefusals: MOST_REFUSALS };
      return (await retryUntilStored(this.#parts, storing)) ?? {};
    } catch (error) {
      // How it ended cannot be written down; that it did not end well can.
      const unknown = {
        kind: "unknown",
        reason: `its outcome could not be stored: ${errorText(error)}`,
      } as const;
      const doubt = (): Promise<Ended> => this.#store(this.#claimed, unknown);
      return (await retryUntilStored(this.#parts, { what, store: doubt })) ?? {};
    }
  }
}

// A tool that lets the rejection through leaves the wording to us.
function rejectionAnswer({ status, reason }: ConfirmationRejected): JsonObject {
  switch (status) {
    case "denied":
      return deniedAnswer(reason);
    case "expired":
      return EXPIRED_ANSWER;
    case "cancelled":
      return cancelledAnswer(reason ?? "no reason given");
  }
}

// Whatever a tool threw may be somebody else's object, which can throw in its turn when it is looked at.
function toOutcome(error: unknown): EntryOutcome {
  try {
    if (error instanceof OutcomeUnknown) return { kind: "unknown", reason: error.message };
    if (error instanceof CallAbandoned) return { kind: "lost" };
    if (error instanceof ConfirmationRejected) return { kind: "failed", error: rejectionAnswer(error) };
  } catch {
    // Then it is none of ours.
  }
  return { kind: "failed", error: { error: errorText(error) } };
}
