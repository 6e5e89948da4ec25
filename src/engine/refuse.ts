import { subjectOf } from "./close.ts";
import type { Case, Refusal, Whole } from "./decision.ts";
import { Draft } from "./draft.ts";
import type { EngineParts } from "./parts.ts";
import type { Plan } from "./transact.ts";

/** Refuses a decision and puts that on record: nothing changes but the audit trail. */
export function auditedRefusal(
  parts: EngineParts,
  whole: Whole,
  { input, decider }: Case,
  refused: Refusal,
): Plan<Refusal> {
  const { confirmation, call } = whole;
  const { id, kind, authenticated } = decider.by;
  const draft = new Draft(parts, whole.now, whole.session);
  draft.journal("decision-refused", {
    ...subjectOf(confirmation, call),
    code: refused.code,
    by: { id, kind, authenticated },
    via: decider.via,
    confirmed: input.confirmed,
  });
  return { draft, value: { ...refused, confirmation, call } };
}
