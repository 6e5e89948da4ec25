import type { Acting, DecisionInput, Refusal, RefusedDecision } from "./decisions/index.ts";
import { type PrincipalInput, toPrincipal } from "./people/index.ts";
import { type Confirmation, toConfirmation } from "./questions/index.ts";

/** A committed decision, or the stored one that it repeats. */
export interface DecisionResult<End> {
  readonly ok: true;
  readonly confirmation: Confirmation;
  /** The same decision was committed before. */
  readonly repeated: boolean;
  /** Resolves when the call has ended. You may ignore it; the call runs anyway. */
  readonly finished: Promise<End>;
}

/** A refused decision, and the confirmation as it is now. */
export interface DecisionRefusal extends Refusal {
  readonly confirmation?: Confirmation;
}

/** What an approval or a denial has besides its verdict. */
export type Verdict = Acting & Omit<DecisionInput, "id" | "confirmed">;

/** Who reads it. Without it, every member of `can` is false. */
export interface ReadOptions {
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
