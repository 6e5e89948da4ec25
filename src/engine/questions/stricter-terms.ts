import type { ConfirmationRecord, Escalation } from "../ledger/index.ts";
import { isPartOf, type Requirement, sameEscalation, stillRequired } from "../people/index.ts";
import type { Question, QuestionEscalation } from "./ask.ts";

/** How people are asked by what the rules say now. */
type Terms = Pick<Question, "requirements" | "denials" | "escalate">;

/**
 * How people are asked in the place of another question. The people who had to approve before still have to, and so do
 * those whom the rules require now.
 */
export function stricterTerms(
  before: ConfirmationRecord,
  asked: Terms,
  now: number,
): Pick<ConfirmationRecord, "requirements" | "denials" | "escalations"> {
  const denials = Math.min(before.denials ?? 1, asked.denials ?? 1);
  const requirements = stillRequired(before.requirements, asked.requirements);
  const escalations = escalationsAfter(before, asked, { requirements, now });
  return {
    requirements,
    ...(denials === 1 ? {} : { denials }),
    ...(escalations.length === 0 ? {} : { escalations }),
  };
}

/**
 * Only what the rules say now lets people fill in; and for a requirement that stays, only people who could fill in
 * before, not earlier than before.
 */
function escalationsAfter(
  before: ConfirmationRecord,
  { requirements: asked, escalate = [] }: Terms,
  { requirements, now }: Pick<ConfirmationRecord, "requirements"> & { readonly now: number },
): readonly Escalation[] {
  return escalate.flatMap(({ afterMs, fills, ...people }) =>
    requirements.flatMap((requirement, index): readonly Escalation[] => {
      if (!fills.some((fill) => isAsked(asked[fill], requirement))) return [];
      const at = startOf(before, { ...people, afterMs, requirement, now });
      return at === undefined ? [] : [{ ...people, at, fills: [index], reached: false }];
    }),
  );
}

function isAsked(one: Requirement | undefined, sum: Requirement): boolean {
  return one !== undefined && isPartOf(one, sum);
}

/** From when on these people may fill in for the requirement; undefined if they may not. */
function startOf(
  { requirements, requestedAt, escalations = [] }: ConfirmationRecord,
  step: Omit<QuestionEscalation, "fills"> & { readonly requirement: Requirement; readonly now: number },
): number | undefined {
  const stayed = requirements.flatMap((one, index) => (isPartOf(one, step.requirement) ? [index] : []));
  if (stayed.length === 0) return step.now + step.afterMs;
  const known = escalations.find(
    (one) => sameEscalation(one, step) && stayed.every((index) => one.fills.includes(index)),
  );
  return known && Math.max(known.at, requestedAt + step.afterMs);
}

/** The same escalations, for a question that is asked now. */
export function escalateFrom(
  now: number,
  { escalations = [] }: Pick<ConfirmationRecord, "escalations">,
): readonly QuestionEscalation[] {
  return escalations.map(({ at, to, group, fills }) => ({
    afterMs: Math.max(0, at - now),
    to,
    fills,
    ...(group === undefined ? {} : { group }),
  }));
}
