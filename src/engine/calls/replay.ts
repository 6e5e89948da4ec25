import { AsyncLocalStorage } from "node:async_hooks";
import { CountersignError, type JsonValue } from "../../protocol/index.ts";
import { errorText, valueDigest } from "../common/index.ts";
import {
  type CallRecord,
  type ConfirmationRecord,
  retryUntilStored,
  type StepKind,
  type StepRecord,
  type StepStatus,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import {
  checkedAsk,
  checkedName,
  decidingVote,
  questionIsGenuine,
  voteIsGenuine,
} from "../questions/index.ts";
import {
  type AskOptions,
  ConfirmationRejected,
  OutcomeUnknown,
  type StepContext,
  type StepOptions,
} from "./call-context.ts";
import { keyOf, type WorkStep } from "./save-step.ts";
import { storedStepResult } from "./stored-result.ts";

/** A question that the function asked and nobody has answered. */
export interface OpenAsk {
  readonly options: AskOptions;
  /** Set for a named question, which a replay must find again. */
  readonly step?: StepRecord;
  /** Steps that ended in this run, as they were stored. A ledger that went back may have lost them since. */
  readonly ended?: readonly WorkStep[];
}

/** Why a function is abandoned. Not an Error, because a `catch` in the tool must not swallow it. */
export type Halt =
  | { readonly kind: "ask"; readonly ask: OpenAsk }
  | { readonly kind: "diverged"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string }
  /** Two steps of one name at the same time: when the function runs again, nothing would tell which is which. */
  | { readonly kind: "overlap"; readonly message: string }
  /** This process lost the claim, so the function must not do anything more. */
  | { readonly kind: "lost" };

export interface ReplayOptions {
  readonly parts: EngineParts;
  readonly callId: string;
  readonly steps: readonly StepRecord[];
  /** Does this attempt still hold the call, as the ledger shows it? */
  readonly holds: (stored: CallRecord) => boolean;
  /** False when this attempt no longer holds the call. */
  readonly saveStep: (step: WorkStep, from?: StepStatus) => Promise<boolean>;
  /** False if the call was denied: the function may only word the answer. */
  readonly mayAsk: boolean;
  readonly onHalt: (halt: Halt) => void;
}

/** How a step ended, and the part of it that is stored. */
type StepEnd<T> =
  | { readonly value: T; readonly stored: JsonValue | undefined }
  | { readonly error: unknown }
  | { readonly halt: Halt };

/** A step that runs, for what it calls. */
interface RunningStep {
  readonly of: Replay;
  readonly name: string;
  isOver: boolean;
}

const RUNNING = new AsyncLocalStorage<RunningStep>();

/**
 * What is stored of one call across runs of its function: finished steps and questions. They are matched by kind, name
 * and how often that name was used before.
 */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #known = new Map<string, StepRecord>();
  readonly #seen = new Map<string, number>();
  readonly #unmet = new Set<string>();
  readonly #underway = new Map<Promise<unknown>, string>();
  readonly #ended: WorkStep[] = [];
  #halted = false;

  constructor(options: ReplayOptions) {
    this.#options = options;
    for (const step of options.steps) {
      const key = keyOf(step);
      this.#known.set(key, step);
      if (step.kind === "question") this.#unmet.add(key);
    }
  }

  async step<T>(
    name: string,
    run: (context: StepContext) => Promise<T> | T,
    options: StepOptions & { readonly signal: AbortSignal },
  ): Promise<T> {
    this.#checkOutside(`The step "${name}" cannot start`);
    if (this.#halted) return forever();
    const place = this.#next("step", name);
    const known = this.#known.get(keyOf(place));
    // The cast is safe: the same function stored this value under this name.
    if (known?.status === "done") return known.value as T;
    if (known?.status === "failed") throw new Error(textOf(known));
    const obstacle = this.#obstacleTo(name, known?.status === "started" && options.idempotent !== true);
    if (obstacle !== undefined) return this.#halt(obstacle);
    const work = this.#perform({ ...place, status: "started" }, known?.status, (key) =>
      run({ idempotencyKey: key, signal: options.signal }),
    );
    this.#underway.set(work, place.name);
    // In one tick the step stops counting and halts the function: in between the function could end.
    let end: StepEnd<T>;
    try {
      end = await work;
    } finally {
      this.#underway.delete(work);
    }
    if ("halt" in end) return this.#halt(end.halt);
    if ("error" in end) throw end.error;
    return end.value;
  }

  /** Why a step cannot start now. */
  #obstacleTo(name: string, mayHaveHappened: boolean): Halt | undefined {
    if (mayHaveHappened) {
      const message = `The step "${name}" had started when its process died. It is unknown whether it happened.`;
      return { kind: "unknown", message };
    }
    if (![...this.#underway.values()].includes(name)) return undefined;
    const message = `A step "${name}" began while another of that name was running. Give each a name of its own.`;
    return { kind: "overlap", message };
  }

  /** The steps that ended in this run. */
  get ended(): readonly WorkStep[] {
    return this.#ended;
  }

  /** Resolves when no step is running: only then may the function be abandoned. */
  async quiet(): Promise<void> {
    while (this.#underway.size > 0) await Promise.allSettled(this.#underway.keys());
  }

  /** The function has returned or thrown: nothing more begins. Resolves when what runs has ended. */
  close(): Promise<void> {
    this.#halted = true;
    return this.quiet();
  }

  async #perform<T>(
    started: WorkStep,
    from: StepStatus | undefined,
    run: (key: string) => Promise<T> | T,
  ): Promise<StepEnd<T>> {
    const { callId, saveStep, parts } = this.#options;
    if (from !== "started" && !(await saveStep(started, from))) return { halt: { kind: "lost" } };
    const running: RunningStep = { of: this, name: started.name, isOver: false };
    const end = await endOf(
      () => RUNNING.run(running, () => run(`${callId}:${suffixOf(started)}`)),
      (value) => storedStepResult(value, started.name, parts.settings.maxResultBytes),
    );
    running.isOver = true;
    if ("halt" in end) return end;
    const status = "error" in end ? "failed" : "done";
    const value = "error" in end ? errorText(end.error) : end.stored;
    const ended: WorkStep = { ...started, status, ...(value === undefined ? {} : { value }) };
    this.#ended.push(ended);
    try {
      await saveStep(ended, "started");
    } catch (error) {
      // The step ended, but its result cannot be stored, so it counts neither as done nor as not done.
      const message = `The outcome of the step "${started.name}" could not be stored: ${errorText(error)}`;
      return { halt: { kind: "unknown", message } };
    }
    return end;
  }

  async confirm(name: string, given: AskOptions): Promise<{ readonly payload: JsonValue | undefined }> {
    this.#checkOutside(`The question "${name}" cannot be asked`);
    if (this.#halted) return forever();
    const options = checkedAsk(given);
    const place = this.#next("question", name);
    const digest = this.#digestOf(options);
    const known = this.#known.get(keyOf(place));
    if (known === undefined) return this.#ask({ options, step: { ...place, status: "asked", digest } }, name);
    if (known.digest !== digest)
      return this.#diverge(`it asks "${name}" with a different hint, payload or schema`);
    this.#unmet.delete(keyOf(place));
    const answer = await this.#answerTo(name, known);
    if (answer === undefined) return this.#halt({ kind: "lost" });
    const { confirmation } = answer;
    if (confirmation === undefined) {
      return this.#halt({ kind: "diverged", message: `The stored answer to "${name}" is not genuine.` });
    }
    if (confirmation.status === "approved") return { payload: confirmation.votes.at(-1)?.payload };
    if (confirmation.status === "requested")
      throw new CountersignError("internal", `"${name}" is still open.`);
    throw new ConfirmationRejected(
      confirmation.status,
      decidingVote(confirmation)?.reason ?? confirmation.withdrawal,
    );
  }

  // A function is left only when its steps have ended: one that waits for an answer, or for another step, would never end.
  #checkOutside(what: string): void {
    const inside = RUNNING.getStore();
    if (inside?.of === this && !inside.isOver)
      throw new CountersignError(
        "invalid-option",
        `${what} inside the step "${inside.name}". Do it before that step, or after it.`,
      );
  }

  #digestOf({ hint, payload, schema }: AskOptions): string {
    return valueDigest(this.#options.parts.ledger.digestKey, [hint ?? null, payload ?? null, schema ?? null]);
  }

  #ask(ask: OpenAsk, name: string): Promise<never> {
    if (!this.#options.mayAsk) throw askedAgainAfterDenial();
    if (this.#unmet.size > 0)
      return this.#diverge(`it asks "${name}" before a question that it asked first last time`);
    return this.#halt({ kind: "ask", ask });
  }

  /**
   * Waits as long as the ledger is unreachable: a person has answered, so the function must not fail for want of the
   * answer. Undefined if the ledger was closed, or if this attempt lost the call meanwhile.
   */
  async #answerTo(
    name: string,
    step: StepRecord,
  ): Promise<{ readonly confirmation: ConfirmationRecord | undefined } | undefined> {
    const { parts, callId, holds } = this.#options;
    const what = `read the answer to the question "${name}" of the call ${callId}`;
    const store = async () => ({ found: await parts.ledger.load({ confirmation: textOf(step) }) });
    const read = await retryUntilStored(parts, { what, store, mostRefusals: 1 });
    if (read === undefined) return undefined;
    const { confirmation, call } = read.found ?? {};
    if (confirmation === undefined || call?.id !== callId) return { confirmation: undefined };
    if (!holds(call)) return undefined;
    const isOwn = confirmation.shown.question === name && this.#answersOnce(confirmation.id);
    return { confirmation: isOwn && this.#isGenuine(confirmation, call) ? confirmation : undefined };
  }

  #answersOnce(confirmation: string): boolean {
    const asked = [...this.#known.values()].filter(({ kind }) => kind === "question");
    return asked.filter((step) => textOf(step) === confirmation).length === 1;
  }

  /** False if the stored vote is not an answer to this question, or is an approval without a valid signature. */
  #isGenuine(confirmation: ConfirmationRecord, call: CallRecord): boolean {
    if (confirmation.status !== "approved") return true;
    if (confirmation.votes.at(-1)?.confirmed !== true) return false;
    const { secret } = this.#options.parts;
    return (
      questionIsGenuine(secret, confirmation) &&
      confirmation.votes.every(
        (vote) => secret === undefined || voteIsGenuine(secret, { confirmation, call }, vote),
      )
    );
  }

  #diverge(what: string): Promise<never> {
    return this.#halt({ kind: "diverged", message: `The tool asks differently than before: ${what}.` });
  }

  // From here on the function can start nothing more, even if it did not await what stopped it.
  #halt(halt: Halt): Promise<never> {
    this.#halted = true;
    this.#options.onHalt(halt);
    return forever();
  }

  #next(kind: StepKind, given: string): Omit<StepRecord, "status"> {
    const name = checkedName(given);
    const counter = `${kind}\0${name}`;
    const occurrence = this.#seen.get(counter) ?? 0;
    this.#seen.set(counter, occurrence + 1);
    return { call: this.#options.callId, kind, name, occurrence };
  }
}

/** Ends like the second or a later use of another name. */
const COUNTED = /:\d+$/;

/** What tells a step's key from those of all other steps of its call. A name that ends like a count always has one. */
function suffixOf({ name, occurrence }: Pick<StepRecord, "name" | "occurrence">): string {
  return occurrence === 0 && !COUNTED.test(name) ? name : `${name}:${occurrence}`;
}

/** A tool that words its denial must not do this. */
export function askedAgainAfterDenial(): CountersignError {
  return new CountersignError("already-decided", "The call was denied, so it cannot ask again.");
}

function forever(): Promise<never> {
  return new Promise(() => {});
}

async function endOf<T>(
  run: () => Promise<T> | T,
  store: (value: T) => JsonValue | undefined,
): Promise<StepEnd<T>> {
  try {
    const value = await run();
    return { value, stored: store(value) };
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) return { error };
    return { halt: { kind: "unknown", message: error.message } };
  }
}

function textOf({ value }: StepRecord): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
