import { countingFor } from "../delegations/index.ts";
import type { CallRecord, ConfirmationRecord } from "../ledger/index.ts";
import { Draft, type Plan, type SessionRecord, transact, type Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Counting, mayDecide, mayJudge, personOf, withoutRight } from "../people/index.ts";
import { subjectOf } from "../questions/index.ts";
import { type Decider, type RefusedDecision, refusal, type UsedUp, type Whole } from "./decision.ts";
import { recordRefusal } from "./refuse.ts";
import { useUp } from "./use-up.ts";
import { forgeryIn } from "./vote.ts";

/** A vote that was withdrawn while the question was open. */
export interface VoteWithdrawn {
  readonly ok: true;
  /** The person had no vote, or had withdrawn it before. */
  readonly repeated: boolean;
  /** As it was before. */
  readonly session: SessionRecord;
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
}

/** Withdraws a person's own vote. After the last vote nothing can be withdrawn: the decision is final. */
export async function withdrawVote(
  parts: EngineParts,
  id: string,
  { uses, ...decider }: Decider & { readonly uses?: UsedUp | undefined },
): Promise<VoteWithdrawn | RefusedDecision> {
  return transact<VoteWithdrawn | RefusedDecision>(parts, { confirmation: id }, async (snapshot, last) => {
    const { confirmation, call } = snapshot ?? {};
    if (snapshot === undefined || confirmation === undefined || call === undefined)
      return { value: refusal("unknown-confirmation", `There is no confirmation ${id}.`) };
    const counting = await countingFor(parts, confirmation, snapshot.now);
    const planned = plan(parts, { ...snapshot, confirmation, call }, { ...decider, counting });
    return useUp(parts, planned, { uses, last });
  });
}

function plan(
  parts: EngineParts,
  whole: Whole,
  { counting, ...decider }: Decider & { readonly counting: Counting },
): Plan<VoteWithdrawn | RefusedDecision> {
  const { confirmation: before, call, session, now } = whole;
  const { by, via } = decider;
  const subject = { confirmation: before, call };
  const person = personOf(by, parts.directory);
  // Also what somebody else said for them.
  const isOwn = ({ person: voter, delegated }: Vote): boolean =>
    voter === person || (delegated !== undefined && parts.directory.person(delegated.from) === person);
  const own = before.votes.filter(isOwn);
  // A person who may not vote any more may still take back their vote.
  const isVoter = own.length > 0 || mayDecide(before, by, counting);
  if (!mayJudge(by) || !isVoter) {
    const code = mayJudge(by) ? "not-an-approver" : "forbidden";
    const message = mayJudge(by) ? `${by.id} has no vote on this.` : withoutRight(by);
    const draft = recordRefusal(parts, whole, decider, { code, what: "decide" });
    return { draft, value: { ...refusal(code, message), ...subject } };
  }
  if (before.status !== "requested") {
    const message = `It is ${before.status}; votes can be withdrawn only before the last one.`;
    return { value: { ...refusal("already-decided", message), ...subject } };
  }
  const forgery = forgeryIn(parts, whole);
  if (forgery !== undefined) return { value: { ...refusal(forgery.code, forgery.message), ...subject } };
  if (own.length === 0) return { value: { ok: true, repeated: true, session, ...subject } };
  const draft = new Draft(parts, now, session).sync();
  const votes = before.votes.filter((vote) => !isOwn(vote));
  const confirmation = draft.changeConfirmation(before, { votes, deadline: "ahead" });
  const { id, kind, authenticated } = by;
  draft.journal("vote-withdrawn", {
    ...subjectOf(before, call),
    by: { id, kind, authenticated },
    via,
    person,
  });
  return { draft, value: { ok: true, repeated: false, session, confirmation, call } };
}
