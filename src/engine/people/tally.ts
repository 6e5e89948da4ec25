import type { Vote, VoteSlot } from "../ledger/index.ts";
import { type Counting, counts, matchIn, personOf, type Ruled, type Voter, votersFor } from "./authority.ts";
import { areOne, delegatedTo } from "./delegation.ts";
import type { Directory } from "./directory.ts";
import type { Principal } from "./principal.ts";

/** A question, and the votes on it. */
export interface Ballot extends Ruled {
  readonly votes: readonly Vote[];
  /** How many denials are needed to deny. */
  readonly denials?: number;
}

/** The votes that count, and what they decide. */
export interface Tally {
  readonly counted: readonly Vote[];
  readonly outcome: "approved" | "denied" | "open";
}

/**
 * Counts the votes again, each on its own: one by somebody who may not vote any more, of a person who already voted, or
 * for a slot that is taken or does not exist, does not count.
 */
export function tally(ballot: Ballot, counting: Counting): Tally {
  const counted: Vote[] = [];
  for (const vote of ballot.votes) {
    const isFirst = !counted.some(
      (other) =>
        isOnePerson(other, vote, counting.directory) ||
        areOneSlot(other, vote) ||
        (vote.confirmed && approvesWith(ballot, vote, other, counting)),
    );
    if (isFirst && stands(ballot, vote, counting)) counted.push(vote);
  }
  const denials = counted.filter(({ confirmed }) => !confirmed).length;
  const met = ballot.requirements.every(
    ({ count }, requirement) =>
      counted.filter(({ slot }) => slot?.requirement === requirement).length >= count,
  );
  const approved = met && ballot.requirements.length > 0;
  return {
    counted,
    outcome: denials >= denialsNeeded(ballot) ? "denied" : approved ? "approved" : "open",
  };
}

/** How many denials are needed to deny. */
export function denialsNeeded({ denials = 1 }: Pick<Ballot, "denials">): number {
  return denials;
}

/** A place for an approval, and as whom the voter fills it. */
export interface FreePlace {
  readonly slot: VoteSlot;
  readonly voter: Voter;
}

/**
 * As whom somebody votes: for themselves if they can, else for somebody who has not voted themselves; if all of those
 * have, for the first. Undefined if they may not vote.
 */
export function voterOn(ballot: Ballot, principal: Principal, counting: Counting): Voter | undefined {
  const voters = votersFor(ballot, principal, counting).filter((voter) => counts(ballot, voter, counting));
  return (
    voters.find(({ through }) => through === undefined || !hasVoted(ballot, through.from, counting)) ??
    voters[0]
  );
}

function hasVoted({ votes }: Ballot, login: string, { directory }: Counting): boolean {
  return votes.some(({ person, delegated }) => delegated === undefined && person === directory.person(login));
}

/** What a vote by this voter says about who gives it. */
export function givenBy({ by, through }: Voter, directory: Directory): Given {
  const person = personOf(by, directory);
  return through === undefined
    ? { by, person }
    : { by, person, delegated: { from: through.from, delegation: through.id } };
}

/** The slot that an approval by this principal fills: the first free one; their own slot before that of somebody else. */
export function freePlace(ballot: Ballot, principal: Principal, counting: Counting): FreePlace | undefined {
  const { directory } = counting;
  for (const voter of votersFor(ballot, principal, counting)) {
    const given = givenBy(voter, directory);
    // A person who has voted, or for whom somebody has voted, has no second vote.
    if (ballot.votes.some((vote) => isOnePerson(vote, given, directory))) continue;
    if (approvedWith(ballot, voter, counting) !== undefined) continue;
    const slot = freeSlot(ballot, voter, counting);
    if (slot !== undefined) return { slot, voter };
  }
  return undefined;
}

/** The approval that somebody who is one person with this voter has given: another one by the voter would count twice. */
export function approvedWith(ballot: Ballot, voter: Voter, counting: Counting): Vote | undefined {
  // A delegation that stands now was made before, whatever the clock says: it may have been set back since.
  const given = { ...givenBy(voter, counting.directory), at: Number.POSITIVE_INFINITY };
  return ballot.votes.find((vote) => approvesWith(ballot, given, vote, counting));
}

/** For whom this principal would approve now, if not for themselves; undefined also if they may not vote. */
export function votesFor(
  ballot: Ballot,
  principal: Principal,
  { directory, now, delegations = [] }: Partial<Counting>,
): string | undefined {
  if (directory === undefined || now === undefined || delegations.length === 0) return undefined;
  const counting = { directory, now, delegations };
  const standing = { ...ballot, votes: tally(ballot, counting).counted };
  const voter = freePlace(standing, principal, counting)?.voter ?? voterOn(standing, principal, counting);
  return voter?.through?.from;
}

function freeSlot(ballot: Ballot, voter: Voter, counting: Counting): VoteSlot | undefined {
  for (const [requirement, asked] of ballot.requirements.entries()) {
    if (matchIn(ballot, requirement, voter, counting) === undefined) continue;
    const taken = new Set(
      ballot.votes.flatMap(({ slot }) => (slot?.requirement === requirement ? [slot.place] : [])),
    );
    for (let place = 0; place < asked.count; place++) if (!taken.has(place)) return { requirement, place };
  }
  return undefined;
}

function stands(ballot: Ballot, vote: Vote, { directory, now, delegations = [] }: Counting): boolean {
  const { by, at, confirmed, slot, person } = vote;
  if (personOf(by, directory) !== person) return false;
  // Whoever fills in after an escalation must have voted after it, and whoever votes for somebody else while the
  // delegation stood; it must still stand.
  const then = { directory, now: at, delegations: delegations.filter(({ since }) => since <= at) };
  const voter = voterOf(ballot, vote, then);
  if (voter === undefined) return false;
  if (!confirmed) return slot === undefined && counts(ballot, voter, then);
  if (slot === undefined || !isPlace(ballot, slot)) return false;
  const matched = matchIn(ballot, slot.requirement, voter, then);
  const { voteMaxAgeMs = Number.POSITIVE_INFINITY } = directory;
  return matched === "name" || (matched === "role" && now - at <= voteMaxAgeMs);
}

/** As whom the vote was given; undefined if the delegation that it names is not in force. */
function voterOf(ballot: Ballot, { by, delegated }: Vote, counting: Counting): Voter | undefined {
  if (delegated === undefined) return { by };
  const through = delegatedTo(by, ballot, counting).find(
    ({ id, from }) => id === delegated.delegation && from === delegated.from,
  );
  return through && { by, through };
}

function isPlace({ requirements }: Ballot, { requirement, place }: VoteSlot): boolean {
  const { count = 0 } = requirements[requirement] ?? {};
  return Number.isInteger(place) && place >= 0 && place < count;
}

/** Who gave a vote, and for whom. */
type Given = Pick<Vote, "by" | "person" | "delegated">;

/**
 * Do these votes come from one person: by one login, by several of one person, or one of them for whoever gave the
 * other? By a delegation that neither of them uses they are one for approvals only.
 */
export function isOnePerson(one: Given, other: Given, directory: Pick<Directory, "person">): boolean {
  if (one.by.id === other.by.id) return true;
  const others = personsOf(other, directory);
  return personsOf(one, directory).some((person) => others.includes(person));
}

function personsOf({ person, delegated }: Given, directory: Pick<Directory, "person">): readonly string[] {
  return delegated === undefined ? [person] : [person, directory.person(delegated.from)];
}

/**
 * Is the other vote an approval by somebody who is one person with the one who gave this, by a delegation that either of
 * them has made? One that was made after both votes says nothing about them.
 */
function approvesWith(
  ballot: Ruled,
  one: Given & Pick<Vote, "at">,
  other: Vote,
  { directory, delegations = [] }: Counting,
): boolean {
  if (!other.confirmed || delegations.length === 0) return false;
  const known = {
    directory,
    delegations: delegations.filter(({ since }) => since <= Math.max(one.at, other.at)),
  };
  const others = personsOf(other, directory);
  return personsOf(one, directory).some((person) =>
    others.some((another) => areOne(person, another, ballot, known)),
  );
}

function areOneSlot(one: Vote, other: Vote): boolean {
  return (
    one.slot !== undefined &&
    one.slot.requirement === other.slot?.requirement &&
    one.slot.place === other.slot.place
  );
}
