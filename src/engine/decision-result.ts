import type { Acting, DecisionInput, Refusal, RefusedDecision } from "./decisions/index.ts";
import { type PrincipalInput, toPrincipal } from "./people/index.ts";
import { type Confirmation, toConfirmation } from "./questions/index.ts";

/** A committed decision, or the stored one that it repeats. */
export interface DecisionResult<End> {
  readonly ok: true;
  readonly confirmation: Confirmation;
  /** The same decision was committed before. */
  readonly repeated: boolean;
  /** Resolves when what follows from the decision is over. Nothing is lost by ignoring it. */
  readonly finished: Promise<End>;
}

/** A decision that was not taken, and the confirmation as it is. */
export interface DecisionRefusal extends Refusal {
  readonly confirmation?: Confirmation;
}

/** What an approval or a denial says beside its verdict. */
export type Verdict = Acting & Omit<DecisionInput, "id" | "confirmed">;

/** Who looks: without it, nothing `can` be done with what is shown. */
export interface Looking {
  readonly by?: PrincipalInput;
}

/** Shows a refused decision to the host program. */
export function toDecisionRefusal(refused: RefusedDecision, { by }: Acting): DecisionRefusal {
  const { ok, code, message, field, session, confirmation, call } = refused;
  return {
    ok,
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(session === undefined || confirmation === undefined || call === undefined
      ? {}
      : { confirmation: toConfirmation({ confirmation, call, session }, toPrincipal(by)) }),
  };
}
