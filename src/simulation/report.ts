import type { Approver } from "./approvers.ts";
import {
  type Counts,
  type Measures,
  type Period,
  type Quantiles,
  quantilesOf,
  weightedQuantiles,
} from "./measures.ts";
import { type Scenario, WEEK_MS } from "./scenario.ts";

/** The numbers of a week, or of the whole time. */
export interface SimulationNumbers extends Readonly<Counts> {
  /** How many questions were open, over all moments. */
  readonly queue: Quantiles;
  /** From the question to the decision; absent if there was none. */
  readonly decisionSeconds?: Quantiles;
  readonly votesPerApprover?: Quantiles;
  /** The share of the working time that approvers spent on questions. May exceed 1: the last one of a day is finished. */
  readonly busy?: Quantiles;
}

/** What came out of a simulation. */
export interface SimulationReport {
  readonly seed: number;
  readonly from: string;
  readonly days: number;
  readonly agents: number;
  readonly approvers: number;
  /** Questions that were still open at the end. */
  readonly open: number;
  readonly total: SimulationNumbers;
  readonly weeks: readonly (SimulationNumbers & { readonly from: string })[];
  readonly teams: readonly TeamNumbers[];
}

/** The load of one team. */
export interface TeamNumbers {
  readonly team: string;
  readonly people: number;
  readonly votes: number;
  readonly busy?: Quantiles;
}

export function toReport(
  { agents, days, start, teams }: Scenario,
  {
    seed,
    approvers,
    open,
  }: { readonly seed: number; readonly approvers: readonly Approver[]; readonly open: number },
  measures: Measures,
): SimulationReport {
  return {
    seed,
    from: dateOf(start),
    days,
    agents,
    approvers: approvers.length,
    open,
    total: numbersOf(measures.total),
    weeks: measures.weeks.map((week, index) => ({
      from: dateOf(start + index * WEEK_MS),
      ...numbersOf(week),
    })),
    teams: teams.map((team) => {
      const members = approvers.flatMap((approver, index) => (approver.team === team ? [index] : []));
      const busy = busyOf(measures.total, members);
      return {
        team: team.name,
        people: team.people,
        votes: members.reduce((sum, index) => sum + (measures.total.votes[index] ?? 0), 0),
        ...(busy === undefined ? {} : { busy }),
      };
    }),
  };
}

function numbersOf(period: Period): SimulationNumbers {
  const decisionSeconds = quantilesOf(period.decisionMs.map((ms) => Math.round(ms / 1_000)));
  const votesPerApprover = quantilesOf(period.votes);
  const busy = busyOf(period, [...period.votes.keys()]);
  return {
    ...period.counts,
    queue: weightedQuantiles(period.lengths),
    ...(decisionSeconds === undefined ? {} : { decisionSeconds }),
    ...(votesPerApprover === undefined ? {} : { votesPerApprover }),
    ...(busy === undefined ? {} : { busy }),
  };
}

/** How busy those members were who worked at all. */
function busyOf({ busyMs, presentMs }: Period, members: readonly number[]): Quantiles | undefined {
  const shares = members.flatMap((index) => {
    const present = presentMs[index] ?? 0;
    return present === 0 ? [] : [Math.round((1_000 * (busyMs[index] ?? 0)) / present) / 1_000];
  });
  return quantilesOf(shares);
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
