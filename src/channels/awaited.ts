import type { Confirmation, ConfirmationVote, Principal, Requirement } from "../engine/index.ts";
import { isAsked, type PeopleKnown } from "./people.ts";

/**
 * Is a vote of this person, who is asked, still awaited? Not of somebody who has voted, or for whom somebody has; nor of those who could
 * only approve what enough others have approved. A vote that may not count any more is not counted here.
 */
export function isAwaited(
  about: Confirmation,
  person: Principal,
  { known = {}, at }: { readonly known?: PeopleKnown | undefined; readonly at: number },
): boolean {
  if (about.votes.length === 0) return true;
  const votes = about.votes.filter((vote) => stands(about, vote, { known, at }));
  const personOf = (login: string): string => known.directory?.person(login) ?? login;
  const voted = new Set(votes.flatMap((vote) => votersOf(vote).flatMap((login) => [login, personOf(login)])));
  const hasVoted = (login: string): boolean => voted.has(login) || voted.has(personOf(login));
  if ([person.id, person.onBehalfOf ?? person.id].some(hasVoted)) return false;
  const isOpen = ({ count }: Requirement, index: number): boolean =>
    votes.filter(({ requirement }) => requirement === index).length < count;
  const open = about.requirements.map(isOpen);
  const rest = {
    ...about,
    requirements: about.requirements.map((one, index) =>
      open[index] === true ? one : { ...one, ...NOBODY },
    ),
    escalations: (about.escalations ?? []).map((one) => ({
      ...one,
      fills: one.fills.filter((index) => open[index] === true),
    })),
  };
  const { delegations = [] } = known;
  return isAsked(rest, person, { ...known, delegations: delegations.filter(({ from }) => !hasVoted(from)) });
}

const NOBODY = { from: { users: [] } };

/** Under which names the vote was given. */
function votersOf({ by, person = by.id, for: delegator }: ConfirmationVote): readonly string[] {
  return [by.id, person, ...(delegator === undefined ? [] : [delegator])];
}

/** Does the vote still count, as far as is known here? Its roles are taken as they were. */
function stands(
  about: Confirmation,
  { by, at: votedAt, requirement, for: delegator }: ConfirmationVote,
  { known, at }: { readonly known: PeopleKnown; readonly at: number },
): boolean {
  const { voteMaxAgeMs = Number.POSITIVE_INFINITY } = known.directory ?? {};
  const asked = about.requirements[requirement ?? -1];
  // A denial fills no place.
  if (asked === undefined) return true;
  if (at - Date.parse(votedAt) > voteMaxAgeMs) return false;
  const roles = asked.from === "requester" ? [] : (asked.from.roles ?? []);
  const id = delegator ?? by.id;
  return isAsked(about, { ...by, id, roles, scopes: ["decide"] }, known);
}
