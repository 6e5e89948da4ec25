import { readFileSync } from "node:fs";
import type { PolicySource } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import {
  callsOfTests,
  expectedCalls,
  readScenario,
  type Scenario,
  type ScenarioFile,
  sampled,
  type Team,
  teamsOf,
  USUAL_HOURS,
  USUAL_WEEKDAYS,
} from "../../simulation/index.ts";
import type { GivenFlags } from "../command.ts";

const USUAL_AGENTS = 10_000;
const USUAL_APPROVERS = 500;
const USUAL_DAYS = 365;
/** A Monday. */
const USUAL_START = Date.UTC(2027, 0, 4);
/** More than these take minutes. */
const MOST_CALLS = 100_000;
const HUNDRED = 100;

/** What is simulated: all of it, or a part. */
export interface ChosenScenario {
  readonly scenario: Scenario;
  /** 1 for all of it. */
  readonly share: number;
  /** About how many calls all of it has. */
  readonly allCalls: number;
}

/** The scenario of a file and of flags. Flags win. Without `--sample`, as large a part as takes about two minutes. */
export function chosenScenario(
  flags: GivenFlags,
  policy: { readonly source: PolicySource; readonly file: string; readonly text: string },
): ChosenScenario {
  const name = flags.text("scenario");
  const file: ScenarioFile =
    name === undefined ? { hours: USUAL_HOURS, weekdays: USUAL_WEEKDAYS } : readScenario(name, textOf(name));
  const approvers = flags.number("approvers", 0);
  const all: Scenario = {
    agents: whole(flags, "agents") ?? file.agents ?? USUAL_AGENTS,
    days: whole(flags, "days") ?? file.days ?? USUAL_DAYS,
    start: file.start ?? USUAL_START,
    calls: file.calls ?? callsOfTests(policy.file, policy.text),
    hours: file.hours,
    weekdays: file.weekdays,
    teams:
      file.teams === undefined
        ? teamsOf(policy.source, approvers ?? USUAL_APPROVERS)
        : resized(file.teams, approvers),
  };
  const allCalls = expectedCalls(all);
  const share = sampleOf(flags) ?? Math.min(1, MOST_CALLS / allCalls);
  return { scenario: share === 1 ? all : sampled(all, share), share, allCalls };
}

function whole(flags: GivenFlags, name: string): number | undefined {
  const value = flags.number(name, 1);
  if (value === undefined || Number.isInteger(value)) return value;
  throw invalid(name, `--${name} must be a whole number.`);
}

function sampleOf(flags: GivenFlags): number | undefined {
  const share = flags.number("sample", 0);
  if (share === undefined || (share > 0 && share <= 1)) return share;
  throw invalid("sample", "--sample must be above 0 and at most 1: 0.05 simulates a twentieth.");
}

/** The teams resized to this many people in total, each in proportion. */
function resized(teams: readonly Team[], approvers: number | undefined): readonly Team[] {
  if (approvers === undefined) return teams;
  if (approvers === 0) return [];
  const all = teams.reduce((sum, { people }) => sum + people, 0);
  return teams.map((team) => {
    const people = Math.max(1, Math.round((team.people * approvers) / all));
    return { ...team, people, users: team.users.slice(0, people) };
  });
}

/** A share as a percentage, for example `3.5 %`. */
export function percent(share: number): string {
  return `${Number((share * HUNDRED).toPrecision(2))} %`;
}

function textOf(name: string): string {
  try {
    return readFileSync(name, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalid("scenario", `Cannot read the scenario "${name}": ${why}.`);
  }
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
