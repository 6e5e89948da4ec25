import type { Principal } from "../engine/index.ts";
import type { Random } from "./random.ts";
import { DAY_MS, HOUR_MS, type Scenario, type Team, weekdayOf } from "./scenario.ts";

/** A person who decides. */
export interface Approver {
  readonly principal: Principal;
  readonly team: Team;
  /** People with the same rights have the same kind. */
  readonly kind: string;
}

/** When somebody works on one day. */
export interface Shift {
  readonly from: number;
  readonly to: number;
}

/** Everybody in the teams. */
export function approversOf({ teams }: Pick<Scenario, "teams">): readonly Approver[] {
  return teams.flatMap((team) =>
    Array.from({ length: team.people }, (_, index) => {
      const named = team.users[index];
      const id = named ?? `${team.name}-${index + 1}`;
      const principal: Principal = {
        id,
        kind: "oidc",
        roles: team.roles,
        scopes: ["decide"],
        authenticated: true,
      };
      // A login may be named by a rule, so that it has rights of its own.
      return { principal, team, kind: named === undefined ? `team ${team.name}` : `user ${id}` };
    }),
  );
}

/** This person's shift that begins on this day (00:00 UTC); undefined on a day off. */
export function shiftOn(dayStart: number, { team }: Approver, random: Random): Shift | undefined {
  const isAway = random.chance(team.absent);
  if (isAway || !team.days.includes(weekdayOf(dayStart))) return undefined;
  const midnight = dayStart - team.utcOffset * HOUR_MS;
  const hours = team.to > team.from ? team.to - team.from : team.to + DAY_MS / HOUR_MS - team.from;
  const from = midnight + team.from * HOUR_MS;
  return { from, to: from + hours * HOUR_MS };
}
