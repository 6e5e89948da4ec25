import type { Vote, VoteSlot } from "../ledger/index.ts";
import { type Counting, matchIn, mayDecide, personOf, type Ruled } from "./authority.ts";
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
    if (counts(ballot, vote, counting) && !counted.some((other) => excludes(other, vote))) counted.push(vote);
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

/** The slot that an approval by this principal fills: the first one that is free; undefined if there is none. */
export function freeSlot(ballot: Ballot, principal: Principal, counting: Counting): VoteSlot | undefined {
  for (const [requirement, asked] of ballot.requirements.entries()) {
    if (matchIn(ballot, requirement, principal, counting) === undefined) continue;
    const taken = new Set(
      ballot.votes.flatMap(({ slot }) => (slot?.requirement === requirement ? [slot.place] : [])),
    );
    for (let place = 0; place < asked.count; place++) if (!taken.has(place)) return { requirement, place };
  }
  return undefined;
}

function counts(ballot: Ballot, { by, at, confirmed, slot, person }: Vote, counting: Counting): boolean {
  const { directory, now } = counting;
  if (personOf(by, directory) !== person) return false;
  // Whoever fills in after an escalation must have voted after it.
  const then = { directory, now: at };
  if (!confirmed) return slot === undefined && mayDecide(ballot, by, then);
  if (slot === undefined || !isPlace(ballot, slot)) return false;
  const matched = matchIn(ballot, slot.requirement, by, then);
  const { voteMaxAgeMs = Number.POSITIVE_INFINITY } = directory;
  return matched === "name" || (matched === "role" && now - at <= voteMaxAgeMs);
}

function isPlace({ requirements }: Ballot, { requirement, place }: VoteSlot): boolean {
  const { count = 0 } = requirements[requirement] ?? {};
  return Number.isInteger(place) && place >= 0 && place < count;
}

/** May not both count: they are of one person, came by one login, or fill one slot. */
function excludes(one: Vote, other: Vote): boolean {
  if (one.person === other.person || one.by.id === other.by.id) return true;
  return (
    one.slot !== undefined &&
    one.slot.requirement === other.slot?.requirement &&
    one.slot.place === other.slot.place
  );
}
