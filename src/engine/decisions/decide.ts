import { toJsonValue } from "../../protocol/index.ts";
import { sameJson, unredact, valueDigest } from "../common/index.ts";
import { countingFor, relyOnDelegations } from "../delegations/index.ts";
import { addShared, readTerms, sameLimits } from "../grants/index.ts";
import {
  type CallRecord,
  type ConfirmationRecord,
  Draft,
  type Judge,
  type Plan,
  type Snapshot,
  transact,
  type Vote,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Counting, mayDecide, mayJudge, type Principal, tally, withoutRight } from "../people/index.ts";
import { decidingVote, judgePayload, writeClosing, writeExpiry } from "../questions/index.ts";
import { planApproval } from "./approve.ts";
import {
  type Case,
  type Decided,
  type Decider,
  type DecisionInput,
  type OwnedCase,
  type RefusedDecision,
  refusal,
  type UsedUp,
  type Whole,
} from "./decision.ts";
import { auditedRefusal } from "./refuse.ts";
import { answerAgain } from "./repeat.ts";
import { useUp } from "./use-up.ts";
import {
  delegatedBy,
  describeRequirement,
  forgeryIn,
  signedVote,
  voteOfDelegator,
  votesSoFarOf,
} from "./vote.ts";
import { writeVote } from "./write-vote.ts";

/**
 * Commits one decision: authorised, bound, in time, and with the call claimed in the same transaction where this
 * process can run it. The first valid decision is final; repeating it returns it. The records in `seen` are judged
 * first, and used only if the session has not changed since.
 */
export async function decide(
  parts: EngineParts,
  input: DecisionInput,
  {
    seen,
    uses,
    ...decider
  }: Decider & { readonly seen?: Snapshot | undefined; readonly uses?: UsedUp | undefined },
): Promise<Decided | RefusedDecision> {
  const flaw = flawOf(input);
  if (flaw !== undefined) return refusal("malformed-decision", flaw);
  const judgeOne: Judge<Decided | RefusedDecision> = async (snapshot, last) => {
    if (!isWhole(snapshot)) {
      return { value: refusal("unknown-confirmation", `There is no confirmation ${input.id}.`) };
    }
    const judged = await judge(parts, snapshot, { input, decider, last });
    const plan = uses === undefined ? judged : await useUp(parts, judged, { uses, last });
    return { ...plan, value: { ...plan.value, session: snapshot.session } };
  };
  const known = seen?.confirmation?.id === input.id ? { snapshot: seen } : undefined;
  return transact(parts, { confirmation: input.id }, judgeOne, known);
}

// A caller may be plain JavaScript: values outside the types must not approve anything.
function flawOf({ id, confirmed, reason, payload, args, grant }: DecisionInput): string | undefined {
  if (typeof (id as unknown) !== "string") return "`id` must be a string.";
  if (typeof (confirmed as unknown) !== "boolean") return "`confirmed` must be true or false.";
  if (reason !== undefined && typeof (reason as unknown) !== "string") return "`reason` must be a string.";
  if (grant !== undefined && !confirmed) return "`grant` is only for an approval.";
  if (grant !== undefined && args !== undefined) return "`grant` and `args` cannot be combined.";
  const json = toJsonValue({ payload: payload ?? null, args: args ?? null });
  return json.ok ? undefined : json.message;
}

async function judge(
  parts: EngineParts,
  whole: Whole,
  about: Case,
): Promise<Plan<Decided | RefusedDecision>> {
  const { confirmation, call, now } = whole;
  const { input, decider } = about;
  // Rules may name people for other arguments.
  const looked = countingFor(parts, input.args === undefined ? confirmation : SOMEBODY, now);
  // An unneeded await would cost every decision one turn of the event loop.
  const counting = looked instanceof Promise ? await looked : looked;
  const refused = refusalOf(parts, whole, { by: decider.by, counting });
  if (refused !== undefined) return auditedRefusal(parts, whole, about, refused);
  if (confirmation.status !== "requested") return { value: judgeAgain(parts, whole, input) };
  const late = confirmation.expiresAt !== undefined && confirmation.expiresAt <= now;
  const stale = late ? undefined : staleness(confirmation, input);
  if (stale !== undefined) return { value: { ...refusal("stale-version", stale), confirmation, call } };
  const owner = parts.hosts.size === 0 ? undefined : await parts.lease.hold();
  if (late) {
    const draft = new Draft(parts, now, whole.session);
    const expired = writeExpiry(parts, draft, { ...whole, owner, last: about.last });
    return { draft, value: { ...expiredRefusal(whole), ...expired } };
  }
  return judgeVote(parts, whole, { ...about, owner, counting });
}

/** Why the decision is not about what is shown now. After a change, only a person who saw the changed question can approve it. */
export function staleness({ shownVersion }: ConfirmationRecord, input: DecisionInput): string | undefined {
  const { version, confirmed } = input;
  if (version === undefined) {
    if (!confirmed || shownVersion === 1) return undefined;
    return `The question was changed after it was asked: read it again, in the inbox for example, and approve it with its version (${shownVersion}).`;
  }
  if (version === shownVersion) return undefined;
  return `You saw version ${version}, but the current version is ${shownVersion}. Read it again.`;
}

const SOMEBODY = { requirements: [{ from: {}, count: 1 }] };

/** Plans a vote on an open question, unless the person has given it already. */
async function judgeVote(
  parts: EngineParts,
  whole: Whole,
  about: Omit<OwnedCase, "votesSoFar">,
): Promise<Plan<Decided | RefusedDecision>> {
  const { confirmation, call } = whole;
  const { input, decider, counting } = about;
  const votesSoFar = votesSoFarOf(parts, whole, { by: decider.by, counting });
  if (isKept(votesSoFar.own, decider.by) && isSameDecision(parts, votesSoFar.own, input, whole))
    return { value: { ok: true, repeated: true, session: whole.session, confirmation, call } };
  const said = voteOfDelegator(parts, votesSoFar, decider.by);
  if (said !== undefined) {
    const message = `${said.by.id}, for whom ${decider.by.id} votes, has voted. Only ${said.by.id} can change that.`;
    return { value: { ...refusal("already-decided", message), confirmation, call } };
  }
  const owned = { ...about, votesSoFar };
  return input.confirmed ? planApproval(parts, whole, owned) : planDenial(parts, whole, owned);
}

/** Somebody else's vote for a person ends with its delegation: then that person's own word must be stored, too. */
function isKept(own: Vote | undefined, by: Principal): own is Vote {
  return own !== undefined && (own.by.id === by.id || own.delegated === undefined);
}

async function planDenial(
  parts: EngineParts,
  whole: Whole,
  about: OwnedCase,
): Promise<Plan<Decided | RefusedDecision>> {
  const { confirmation, call, frame, now } = whole;
  const { counting } = about;
  const { voter, others, ended } = about.votesSoFar;
  const verdict = { confirmed: false, at: now, ...delegatedBy(voter) };
  const vote = signedVote(parts, whole, about, verdict);
  const votes = [...others, vote];
  if (tally({ ...confirmation, votes }, counting).outcome !== "denied")
    return writeVote(parts, whole, { vote, votes, ended, counting });
  const draft = new Draft(parts, now, whole.session).sync();
  relyOnDelegations(draft, votes, counting);
  // Whatever the rule of this question allows: another one may have let people grant such calls.
  await addShared(parts, draft, confirmation);
  const closing = { how: "deny", vote, votes, ended } as const;
  const closed = writeClosing(parts, draft, {
    confirmation,
    call,
    frame,
    closing,
    owner: about.owner,
    last: about.last,
  });
  return { draft, value: { ok: true, repeated: false, session: whole.session, ...closed } };
}

/** Already decided: the same decision gets the stored one; a different one is told who decided. */
function judgeAgain(
  parts: EngineParts,
  { confirmation, call, session }: Whole,
  input: DecisionInput,
): Decided | RefusedDecision {
  const current = { confirmation, call };
  const vote = decidingVote(confirmation);
  if (confirmation.status === "expired") return { ...expiredRefusal(current), ...current };
  if (confirmation.status === "cancelled" || vote === undefined) {
    const why = `The question was withdrawn: ${confirmation.withdrawal ?? "no reason given"}.`;
    const { confirmation: next = confirmation.id } = call;
    const now = next === confirmation.id ? "" : ` The new question is ${next}.`;
    return { ...refusal("withdrawn", why + now), ...current };
  }
  const verdict = vote.confirmed ? "approved" : "denied";
  const at = new Date(vote.at).toISOString();
  const refused = { ...refusal("already-decided", `${vote.by.id} ${verdict} this at ${at}.`), ...current };
  return answerAgain(isSameDecision(parts, vote, input, current), { session, ...current }, refused);
}

function isSameDecision(
  parts: EngineParts,
  vote: Vote,
  input: DecisionInput,
  { confirmation, call }: Pick<Whole, "confirmation" | "call">,
): boolean {
  if (vote.confirmed !== input.confirmed) return false;
  if (!input.confirmed) return true;
  const shown = vote.args === undefined ? call.args : (call.originalArgs ?? call.args);
  const payload = judgePayload(confirmation.shown, { ...call, args: shown }, input.payload);
  const granted = isSameGrant(confirmation, vote, input);
  return (
    granted &&
    isSameAmendment(parts, vote, input, call) &&
    payload.ok &&
    sameJson(payload.payload, vote.payload)
  );
}

function isSameGrant({ grants }: ConfirmationRecord, vote: Vote, { grant }: DecisionInput): boolean {
  if (grant === undefined) return vote.grant === undefined;
  const terms = readTerms(grants, grant);
  return terms.ok && sameLimits(terms.limits, vote.grant);
}

function isSameAmendment(parts: EngineParts, vote: Vote, { args }: DecisionInput, call: CallRecord): boolean {
  if (args === undefined) return vote.args === undefined;
  const sent = unredact(args, call.originalArgs ?? call.args, call.secrets);
  if (!sent.ok) return false;
  if (sameJson(sent.args, vote.args ?? call.args)) return true;
  return vote.sentDigest !== undefined && vote.sentDigest === valueDigest(parts.ledger.digestKey, sent.args);
}

/** Why this principal may not decide, or nobody may: the stored question is not the one that was asked. */
function refusalOf(
  parts: EngineParts,
  whole: Whole,
  { by, counting }: { readonly by: Principal; readonly counting: Counting },
): RefusedDecision | undefined {
  const { confirmation } = whole;
  if (!mayDecide(confirmation, by, counting)) {
    const who = confirmation.requirements.map(describeRequirement).join("; and ");
    return refusal("not-an-approver", `${by.id} may not decide this. Approvers: ${who}.`);
  }
  if (!mayJudge(by)) return refusal("forbidden", withoutRight(by));
  const forgery = confirmation.status === "requested" ? forgeryIn(parts, whole) : undefined;
  return forgery === undefined ? undefined : refusal(forgery.code, forgery.message);
}

function expiredRefusal({ confirmation, call }: Pick<Whole, "confirmation" | "call">): RefusedDecision {
  const at = new Date(confirmation.expiresAt ?? 0).toISOString();
  const ran = call.attempt === 0 ? "run" : "finish";
  return refusal("expired", `The deadline was ${at}. The call did not ${ran}, and the model was told.`);
}

function isWhole(snapshot: Snapshot | undefined): snapshot is Whole {
  return snapshot?.confirmation !== undefined && snapshot.call !== undefined;
}
