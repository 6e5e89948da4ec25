import type { Call } from "../calls/index.ts";
import type { Verdict } from "../decision-result.ts";
import type { Decided, RefusedDecision } from "../decisions/index.ts";
import type { Engine } from "../engine.ts";

type Tried = (Decided & { readonly finished: Promise<Call> }) | RefusedDecision;

/** Approves a confirmation and shows the records that this is about; a refusal is a value. */
export async function tryApprove(engine: Engine, id: string, verdict: Verdict): Promise<Tried> {
  return tryDecide(engine, { ...verdict, id, confirmed: true }, verdict);
}

/** Denies a confirmation, as {@link tryApprove} approves it. */
export async function tryDeny(engine: Engine, id: string, verdict: Verdict): Promise<Tried> {
  return tryDecide(engine, { ...verdict, id, confirmed: false }, verdict);
}

async function tryDecide(engine: Engine, ...said: Parameters<Engine["decisions"]["decide"]>): Promise<Tried> {
  const decided = await engine.decisions.decide(...said);
  if (!decided.ok) return decided;
  return {
    ...decided,
    get finished() {
      return engine.finished(decided.call.id);
    },
  };
}
