import { argumentsChange } from "../calls/index.ts";
import { relyOnDelegations } from "../delegations/index.ts";
import { type CallRecord, type ConfirmationRecord, Draft, type Plan, type Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Counting } from "../people/index.ts";
import { escalateFrom, type Question, subjectOf, voteBody, writeSuccessor } from "../questions/index.ts";
import type { Decided, Decider, DecisionInput, Whole } from "./decision.ts";
import { signedVote } from "./vote.ts";

/** A vote with those that stay beside it. */
export interface NewVote {
  readonly vote: Vote;
  readonly votes: readonly Vote[];
  /** Whose votes ended with it. */
  readonly ended: readonly string[];
  readonly counting: Counting;
}

/** Plans a vote that does not decide yet: the question stays open. */
export function writeVote(
  parts: EngineParts,
  { session, confirmation: before, call, now }: Whole,
  { vote, votes, ended, counting }: NewVote,
): Plan<Decided> {
  const draft = new Draft(parts, now, session).sync();
  relyOnDelegations(draft, [vote], counting);
  const confirmation = draft.changeConfirmation(before, { votes, deadline: "ahead" });
  draft.journal("vote-cast", { ...subjectOf(before, call), ...voteBody(vote, ended) });
  return { draft, value: { ok: true, repeated: false, session, confirmation, call } };
}

/** A vote for other arguments that needs more votes. */
export interface AmendedVote {
  readonly vote: Vote;
  /** As they would be with the vote. */
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  readonly input: DecisionInput;
  readonly decider: Decider;
  readonly counting: Counting;
}

/**
 * Plans a question about the amended arguments in the place of this one, with the vote of whoever amended them. Nobody
 * can approve arguments that they were not shown: the old question's id decides nothing any more, and its votes are gone.
 */
export function writeAmendedQuestion(parts: EngineParts, whole: Whole, amended: AmendedVote): Plan<Decided> {
  const { session, now, confirmation: before, call: stored } = whole;
  const { vote, confirmation, call, input, decider } = amended;
  const { mac: _mac, ...verdict } = vote;
  const draft = new Draft(parts, now, session).sync();
  relyOnDelegations(draft, [vote], amended.counting);
  const { shown, requirements, requesters, denials, policy, expiresAt } = confirmation;
  const { authorOnly: _gate, ...card } = shown;
  const gone = before.votes.length;
  const reason = `${decider.by.id} changed the arguments; this withdrew ${gone === 1 ? "1 vote" : `${gone} votes`} for the old ones`;
  const asked = writeSuccessor(parts, draft, {
    held: whole,
    closing: { how: "withdraw", reason, decider },
    question: {
      shown: card,
      requirements,
      requesters,
      ...(denials === undefined ? {} : { denials }),
      ...plansAfter(confirmation, now),
      ...(policy === undefined ? {} : { policy }),
      ...(expiresAt === undefined ? {} : { expiresInMs: expiresAt - now }),
    },
    change: argumentsChange(stored, call),
    vote: (question, about) =>
      signedVote(parts, { confirmation: question, call: about }, { input, decider }, verdict),
  });
  return { draft, value: { ok: true, repeated: false, session, ...asked } };
}

/** What is left of the reminders, and who may fill in. */
function plansAfter(asked: ConfirmationRecord, now: number): Pick<Question, "remindAfterMs" | "escalate"> {
  const { reminders = [] } = asked;
  return {
    remindAfterMs: reminders.filter(({ at }) => at > now).map(({ at }) => at - now),
    escalate: escalateFrom(now, asked),
  };
}
