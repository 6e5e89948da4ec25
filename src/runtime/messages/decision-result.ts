import {
  type Confirmation,
  type Decided,
  type DecisionResult,
  type PrincipalInput,
  toConfirmation,
  toPrincipal,
} from "../../engine/index.ts";
import type { Turn } from "../history/index.ts";
import type { RunContext } from "../run-context.ts";
import { collectRun } from "../streaming/index.ts";
import { turnOf } from "./after-submission.ts";
import { closedAt } from "./answers.ts";

/** The result of a decision for the host program. The turn after it is watched only if `finished` is read. */
export function decisionResult(
  run: RunContext,
  decided: Decided,
  { by }: { readonly by: PrincipalInput },
): DecisionResult<Turn> {
  return new ResultOfDecision(run, decided, by);
}

// A class, because getters in an object of their own would make one type for each object, which lives until the next full
// garbage collection, with all that the getters refer to.
class ResultOfDecision implements DecisionResult<Turn> {
  readonly ok = true;
  readonly repeated: boolean;
  readonly #run: RunContext;
  readonly #decided: Pick<Decided, "call" | "confirmation" | "session">;
  readonly #by: PrincipalInput;
  #finished: Promise<Turn> | undefined;
  #shown: Confirmation | undefined;

  constructor(run: RunContext, { call, confirmation, session, repeated }: Decided, by: PrincipalInput) {
    this.repeated = repeated;
    this.#run = run;
    this.#decided = { call, confirmation, session };
    this.#by = by;
  }

  /** Made when it is looked at: most callers only wait for what follows. */
  get confirmation(): Confirmation {
    this.#shown ??= toConfirmation(this.#decided, toPrincipal(this.#by));
    return this.#shown;
  }

  toJSON(): Pick<DecisionResult<Turn>, "ok" | "repeated" | "confirmation"> {
    const { ok, repeated, confirmation } = this;
    return { ok, repeated, confirmation };
  }

  get finished(): Promise<Turn> {
    if (this.#finished === undefined) {
      // Keeps the process alive while somebody waits for this.
      const release = this.#run.hold();
      this.#finished = this.#finish().finally(release);
      // It may be ignored: a rejection when the Runner closes must not end the process.
      this.#finished.catch(() => {});
    }
    return this.#finished;
  }

  async #finish(): Promise<Turn> {
    const { call, confirmation, session } = this.#decided;
    const where = { session: call.session, invocation: confirmation.invocation };
    const isClosed = confirmation.status !== "requested";
    const after =
      this.repeated && isClosed
        ? await closedAt(this.#run, call.session, confirmation.id)
        : session.nextSeq - 1;
    return turnOf(this.#run, where, await collectRun(this.#run, { ...where, after }));
  }
}
