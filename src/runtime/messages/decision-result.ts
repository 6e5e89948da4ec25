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
  const { ok, call, confirmation, session, repeated } = decided;
  const where = { session: call.session, invocation: confirmation.invocation };
  const finish = async (): Promise<Turn> => {
    const isClosed = confirmation.status !== "requested";
    const after =
      repeated && isClosed ? await closedAt(run, call.session, confirmation.id) : session.nextSeq - 1;
    return turnOf(run, where, await collectRun(run, { ...where, after }));
  };
  const finishAlive = (): Promise<Turn> => {
    // Keeps the process alive while somebody waits for this.
    const release = run.hold();
    return finish().finally(release);
  };
  let finished: Promise<Turn> | undefined;
  let shown: Confirmation | undefined;
  return {
    ok,
    // Made when it is looked at: most callers only wait for what follows.
    get confirmation() {
      shown ??= toConfirmation({ confirmation, call, session }, toPrincipal(by));
      return shown;
    },
    repeated,
    get finished() {
      if (finished === undefined) {
        finished = finishAlive();
        // It may be ignored: a rejection when the Runner closes must not end the process.
        finished.catch(() => {});
      }
      return finished;
    },
  };
}
