import type { JsonValue } from "../protocol/index.ts";
import type { Spread } from "./random.ts";

/** A value of an argument: always the same, one of a list, or a number that varies. */
export type ArgValue =
  | { readonly kind: "fixed"; readonly value: JsonValue }
  | { readonly kind: "one-of"; readonly values: readonly JsonValue[] }
  | { readonly kind: "spread"; readonly spread: Spread };

/** Calls that agents want to make. */
export interface CallKind {
  readonly tool: string;
  readonly app: string;
  readonly args: { readonly [name: string]: ArgValue };
  /** The average on a day of weight 1. */
  readonly perAgentPerDay: number;
}

/** Approvers who work alike. */
export interface Team {
  readonly name: string;
  readonly people: number;
  /** Logins, where rules name them; the others are called after the team. */
  readonly users: readonly string[];
  readonly roles: readonly string[];
  /** Monday is 0. */
  readonly days: readonly number[];
  /** Hours of the day, in the team's own time. */
  readonly from: number;
  readonly to: number;
  /** Hours that the team's clock is ahead of UTC. */
  readonly utcOffset: number;
  /** The share of working days on which a person is away. */
  readonly absent: number;
  /** How long somebody who has nothing to do takes to notice a question, in milliseconds. */
  readonly reactionMs: Spread;
  /** How long reading and deciding takes, in milliseconds. */
  readonly handlingMs: Spread;
  /** The share of decisions that approve. */
  readonly approves: number;
  /** The share of approvals that grant further calls, where the question offers it. */
  readonly grants: number;
}

/** Who works, and what they do. */
export interface Scenario {
  readonly agents: number;
  readonly days: number;
  /** Milliseconds; the first moment, at 00:00 UTC. */
  readonly start: number;
  readonly calls: readonly CallKind[];
  /** Weights of the hours of a day, in UTC: 24 of them. Their average counts as 1. */
  readonly hours: readonly number[];
  /** Weights of the days of a week, from Monday: a day of weight 1 has `perAgentPerDay` calls. */
  readonly weekdays: readonly number[];
  readonly teams: readonly Team[];
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 604_800_000;

/** Monday is 0. */
export function weekdayOf(at: number): number {
  return (new Date(at).getUTCDay() + 6) % 7;
}

const OFFICE_DAYS: readonly number[] = [0, 1, 2, 3, 4];

/** How a team works, where a scenario does not say. */
export const USUAL_TEAM: Omit<Team, "name" | "people" | "users" | "roles"> = {
  days: OFFICE_DAYS,
  from: 9,
  to: 17,
  utcOffset: 0,
  absent: 0.1,
  reactionMs: { median: 5 * MINUTE_MS, p90: 30 * MINUTE_MS },
  handlingMs: { median: MINUTE_MS, p90: 5 * MINUTE_MS },
  approves: 0.95,
  grants: 0,
};

const [NIGHT, EVENING, DAY] = [0.3, 0.8, 2] as const;

/** Agents work at all hours, but most in those of the people who use them. */
export const USUAL_HOURS: readonly number[] = Array.from({ length: 24 }, (_, hour) => {
  if (hour >= 8 && hour < 18) return DAY;
  return hour >= 18 && hour < 22 ? EVENING : NIGHT;
});

export const USUAL_WEEKDAYS: readonly number[] = [1, 1, 1, 1, 1, 0.25, 0.25];

/** How many calls a scenario has, about. */
export function expectedCalls({ agents, days, start, calls, weekdays }: Scenario): number {
  const perDay = agents * calls.reduce((sum, { perAgentPerDay }) => sum + perAgentPerDay, 0);
  let weight = 0;
  for (let day = 0; day < days; day += 1) weight += weekdays[weekdayOf(start + day * DAY_MS)] ?? 0;
  return perDay * weight;
}

/** A part of the agents and of every team. A team keeps at least one person. */
export function sampled(scenario: Scenario, share: number): Scenario {
  const part = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round(count * share)));
  return {
    ...scenario,
    agents: part(scenario.agents),
    teams: scenario.teams.map((team) => {
      const people = part(team.people);
      return { ...team, people, users: team.users.slice(0, people) };
    }),
  };
}
