import type { ErrorCode } from "../../protocol/index.ts";
import type { ConfirmationRecord, Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import {
  type Counting,
  givenBy,
  isOnePerson,
  type Principal,
  personOf,
  type Requirement,
  tally,
  type Voter,
  voterOn,
} from "../people/index.ts";
import { questionIsGenuine, type VotedOn, voteIsGenuine, voteMac } from "../questions/index.ts";
import type { Decider, DecisionInput, Whole } from "./decision.ts";

/** A decision as it is stored, signed if the engine has a secret. */
export function signedVote(
  parts: EngineParts,
  subject: VotedOn,
  { input, decider }: { readonly input: DecisionInput; readonly decider: Decider },
  verdict: Pick<
    Vote,
    "confirmed" | "at" | "slot" | "delegated" | "payload" | "args" | "sentDigest" | "grant"
  >,
): Vote {
  const { by, via } = decider;
  const person = personOf(by, parts.directory);
  const reason = input.reason === undefined ? {} : { reason: input.reason };
  const vote = { ...verdict, by, person, via, ...reason };
  return parts.secret === undefined ? vote : { ...vote, mac: voteMac(parts.secret, subject, vote) };
}

/** For whom a voter votes, as the vote says it. */
export function delegatedBy({ through }: Voter): Pick<Vote, "delegated"> {
  return through === undefined ? {} : { delegated: { from: through.from, delegation: through.id } };
}

/** The votes that stay when somebody votes: those of others, as far as they still count. */
export interface VotesSoFar {
  /** As whom they vote, unless only another place is free. */
  readonly voter: Voter;
  readonly others: readonly Vote[];
  /** The person's own vote so far, if it still counts; it may be that of somebody who is one person with the voter. */
  readonly own?: Vote;
  /** Whose votes end with the new one. */
  readonly ended: readonly string[];
}

/** The votes on a question so far, as they count for somebody who votes now. */
export function votesSoFarOf(
  parts: EngineParts,
  { confirmation }: Whole,
  { by, counting }: Pick<Decider, "by"> & { readonly counting: Counting },
): VotesSoFar {
  const person = personOf(by, parts.directory);
  const { counted } = tally(confirmation, counting);
  const voter = voterOn({ ...confirmation, votes: counted }, by, counting) ?? { by };
  const given = givenBy(voter, counting.directory);
  // One login has one vote, whomever it acts for; and so have a delegate who votes for somebody, and that somebody.
  const others = counted.filter((vote) => !isOnePerson(vote, given, counting.directory));
  // One that lapsed can be given again.
  const own =
    counted.find((vote) => vote.person === person) ??
    counted.find((vote) => vote.by.id !== by.id && !others.includes(vote));
  const ended = confirmation.votes.filter((vote) => !others.includes(vote)).map((vote) => vote.by.id);
  return { voter, others, ended, ...(own === undefined ? {} : { own }) };
}

/**
 * The vote of somebody for whom this voter votes, who has voted themselves: only they change it. Undefined if there is
 * none.
 */
export function voteOfDelegator(parts: EngineParts, { own }: VotesSoFar, by: Principal): Vote | undefined {
  if (own === undefined || own.delegated !== undefined) return undefined;
  // Any other vote that ends with theirs is that of whom they vote for.
  return own.person === personOf(by, parts.directory) || own.by.id === by.id ? undefined : own;
}

/** Why a stored question or one of its votes cannot be trusted; undefined without a secret, or if they are genuine. */
export function forgeryIn(
  { secret }: Pick<EngineParts, "secret">,
  { confirmation, call }: Pick<Whole, "confirmation" | "call">,
): { readonly code: ErrorCode; readonly message: string } | undefined {
  const code = "signature-invalid";
  if (!questionIsGenuine(secret, confirmation))
    return { code, message: "The stored requirements of the question have no valid signature." };
  const forged = confirmation.votes.some(
    (vote) => secret !== undefined && !voteIsGenuine(secret, { confirmation, call }, vote),
  );
  return forged ? { code, message: "A stored vote has no valid signature." } : undefined;
}

/** How far each requirement is, for a person: "1 of 2 from finance". */
export function describeProgress({ requirements, votes }: ConfirmationRecord): string {
  return requirements
    .map((requirement, index) => {
      const given = votes.filter(({ slot }) => slot?.requirement === index).length;
      return `${given} of ${requirement.count} from ${describeRequirement(requirement)}`;
    })
    .join("; ");
}

/** Whose approval a requirement asks for, in words. */
export function describeRequirement({ from, group }: Requirement): string {
  if (group !== undefined) return group;
  if (from === "requester") return "the requester";
  const { roles = [], users = [], notRequester } = from;
  const who =
    [...roles.map((role) => `the role ${role}`), ...users].join(" or ") || "any other logged-in user";
  return notRequester ? `${who} (not the requester)` : who;
}
