import { CountersignError, type JsonValue, toJsonValue } from "../protocol/index.ts";
import {
  type AskOptions,
  ConfirmationRejected,
  OutcomeUnknown,
  type StepContext,
  type StepOptions,
} from "./call-context.ts";
import { valueDigest } from "./digest.ts";
import type { EngineParts } from "./parts.ts";
import type { ConfirmationRecord, StepKind, StepRecord } from "./records.ts";

/** A question that the body put and nobody has answered. */
export interface OpenAsk {
  readonly options: AskOptions;
  /** Set for a named question, which a replay must find again. */
  readonly step?: StepRecord;
}

/** Why a body is abandoned where it stands. Not an error: a `catch` in the tool must not swallow it. */
export type Halt =
  | { readonly kind: "ask"; readonly ask: OpenAsk }
  | { readonly kind: "diverged"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string }
  /** The claim is no longer ours; whatever else the body would do is not ours to do. */
  | { readonly kind: "lost" };

export interface ReplayOptions {
  readonly parts: EngineParts;
  readonly callId: string;
  readonly steps: readonly StepRecord[];
  /** False when this attempt no longer holds the call. */
  readonly saveStep: (step: StepRecord, from?: StepRecord["status"]) => Promise<boolean>;
  readonly onHalt: (halt: Halt) => void;
}

/**
 * What one call remembers across the times its body is entered: finished steps and put questions, matched
 * by kind, name and how often that name came before.
 */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #known = new Map<string, StepRecord>();
  readonly #seen = new Map<string, number>();
  readonly #unmet = new Set<string>();

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
    const place = this.#next("step", name);
    const known = this.#known.get(keyOf(place));
    // The type is the body's own: it stored this value under this name.
    if (known?.status === "done") return known.value as T;
    if (known?.status === "failed") throw new Error(textOf(known));
    if (known !== undefined && options.idempotent !== true) {
      return this.#halt({
        kind: "unknown",
        message: `The step "${name}" had begun when its process died; whether it happened is not known.`,
      });
    }
    const started: StepRecord = { ...place, status: "started" };
    if (known === undefined && !(await this.#options.saveStep(started))) return this.#halt({ kind: "lost" });
    return this.#perform(started, run, options.signal);
  }

  async #perform<T>(
    started: StepRecord,
    run: (context: StepContext) => Promise<T> | T,
    signal: AbortSignal,
  ): Promise<T> {
    const { callId, saveStep } = this.#options;
    const suffix = started.occurrence === 0 ? started.name : `${started.name}:${started.occurrence}`;
    try {
      const value = await run({ idempotencyKey: `${callId}:${suffix}`, signal });
      const stored = toStorable(value, started.name);
      await saveStep(
        { ...started, status: "done", ...(stored === undefined ? {} : { value: stored }) },
        "started",
      );
      return value;
    } catch (error) {
      if (error instanceof OutcomeUnknown) return this.#halt({ kind: "unknown", message: error.message });
      await saveStep({ ...started, status: "failed", value: errorText(error) }, "started");
      throw error;
    }
  }

  async confirm(name: string, options: AskOptions): Promise<{ readonly payload: JsonValue | undefined }> {
    const { parts } = this.#options;
    const place = this.#next("question", name);
    const digest = valueDigest(parts.ledger.digestKey, [
      options.hint ?? null,
      options.payload ?? null,
      options.schema ?? null,
    ]);
    const known = this.#known.get(keyOf(place));
    if (known === undefined) {
      if (this.#unmet.size > 0) return this.#diverge(`it asks "${name}" before a question of the last time`);
      return this.#halt({ kind: "ask", ask: { options, step: { ...place, status: "asked", digest } } });
    }
    if (known.digest !== digest)
      return this.#diverge(`it asks "${name}" with another hint, payload or schema`);
    this.#unmet.delete(keyOf(place));
    const confirmation = await this.#confirmationOf(known);
    if (confirmation.status === "approved") return { payload: confirmation.votes.at(-1)?.payload };
    if (confirmation.status === "requested")
      throw new CountersignError("internal", `"${name}" is still open.`);
    throw new ConfirmationRejected(
      confirmation.status,
      confirmation.votes.at(-1)?.reason ?? confirmation.withdrawal,
    );
  }

  async #confirmationOf(step: StepRecord): Promise<ConfirmationRecord> {
    const snapshot = await this.#options.parts.ledger.load({ confirmation: textOf(step) });
    if (snapshot?.confirmation === undefined) {
      throw new CountersignError("internal", `The question "${step.name}" has no confirmation.`);
    }
    return snapshot.confirmation;
  }

  #diverge(what: string): Promise<never> {
    return this.#halt({ kind: "diverged", message: `The tool does not ask as it did before: ${what}.` });
  }

  #halt(halt: Halt): Promise<never> {
    this.#options.onHalt(halt);
    return new Promise(() => {});
  }

  #next(kind: StepKind, name: string): Omit<StepRecord, "status"> {
    const counter = `${kind}\0${name}`;
    const occurrence = this.#seen.get(counter) ?? 0;
    this.#seen.set(counter, occurrence + 1);
    return { call: this.#options.callId, kind, name, occurrence };
  }
}

function keyOf(step: Pick<StepRecord, "kind" | "name" | "occurrence">): string {
  return JSON.stringify([step.kind, step.name, step.occurrence]);
}

function textOf({ value }: StepRecord): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toStorable(value: unknown, name: string): JsonValue | undefined {
  if (value === undefined) return undefined;
  const outcome = toJsonValue(value);
  if (outcome.ok) return outcome.value;
  throw new CountersignError(
    "invalid-option",
    `The step "${name}" must return JSON to be remembered: ${outcome.message}`,
  );
}
