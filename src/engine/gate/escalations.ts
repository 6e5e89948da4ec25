import { type Approvers, isPartOf, oneApproval, type Requirement, sameEscalation } from "../people/index.ts";
import type { QuestionEscalation } from "../questions/index.ts";
import type { RuleEscalation } from "./policy.ts";

/** One rule or hook that asks: whom it requires, and who may fill in for them. */
export interface AskingSource {
  readonly requirements: readonly Requirement[];
  readonly escalate: readonly RuleEscalation[];
}

/**
 * Who may fill in for which of these requirements. An escalation is for what its own rule requires; a rule that
 * requires nobody escalates the author's default, "requester". What several require can be filled in only by whom all
 * of them name, from the latest time on.
 */
export function escalationsFor(
  author: Approvers,
  sources: readonly AskingSource[],
  required: readonly Requirement[],
): readonly QuestionEscalation[] {
  const all = [
    ...authorsOwn(author, sources),
    ...sources.filter(({ requirements }) => requirements.length > 0),
  ];
  return required.flatMap((requirement, index) => {
    const [first, ...others] = all.filter(({ requirements }) =>
      requirements.some((one) => isPartOf(one, requirement)),
    );
    return (first?.escalate ?? []).flatMap((step) => {
      const afterMs = latest(step, others);
      return afterMs === undefined ? [] : [{ ...step, afterMs, fills: [index] }];
    });
  });
}

function authorsOwn(author: Approvers, sources: readonly AskingSource[]): readonly AskingSource[] {
  if (author !== "requester") return [{ requirements: oneApproval(author), escalate: [] }];
  if (sources.some(({ requirements }) => requirements.length > 0)) return [];
  return [{ requirements: oneApproval(author), escalate: sources.flatMap(({ escalate }) => escalate) }];
}

/** When all of these sources let these people fill in; undefined if one of them never does. */
function latest(step: RuleEscalation, others: readonly AskingSource[]): number | undefined {
  const times = others.map(({ escalate }) => escalate.find((one) => sameEscalation(one, step))?.afterMs);
  return times.some((time) => time === undefined)
    ? undefined
    : Math.max(step.afterMs, ...times.filter((time) => time !== undefined));
}
