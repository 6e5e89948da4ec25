import type { ErrorCode, JsonObject, JsonValue } from "../../protocol/index.ts";
import { argumentsChange, type Clearance, clear, isAbout, relyOnGrant, writeClaim } from "../calls/index.ts";
import { changedMembers, redact, sameJson, valueDigest } from "../common/index.ts";
import { relyOnDelegations } from "../delegations/index.ts";
import {
  hasRoomForGrant,
  mintGrant,
  readShared,
  readTerms,
  type SharedGrants,
  sameLimits,
  unmetBy,
} from "../grants/index.ts";
import type { BodyOf } from "../journal/index.ts";
import {
  type CallRecord,
  type ConfirmationChange,
  type ConfirmationRecord,
  Draft,
  type GrantLimits,
  isShared,
  type Plan,
  type Vote,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { approvedWith, type FreePlace, freePlace, mayApprove, mayDecide, tally } from "../people/index.ts";
import {
  judgePayloadHere,
  signedQuestion,
  subjectOf,
  takeBack,
  voteBody,
  writeClosingEvent,
} from "../questions/index.ts";
import { type AmendmentOutcome, judgeAmendment } from "./amend.ts";
import { type Decided, type OwnedCase, type RefusedDecision, refusal, type Whole } from "./decision.ts";
import { auditedRefusal } from "./refuse.ts";
import { delegatedBy, describeProgress, signedVote } from "./vote.ts";
import { writeAmendedQuestion, writeVote } from "./write-vote.ts";

/** Plans an approval, and with it the claim of the call where this process can run it. */
export async function planApproval(
  parts: EngineParts,
  whole: Whole,
  about: OwnedCase,
): Promise<Plan<Decided | RefusedDecision>> {
  const bound = await bind(parts, whole, about);
  if (!bound.ok)
    return AUDITED.has(bound.code) ? auditedRefusal(parts, whole, about, bound) : { value: bound };
  const { owner, last } = about;
  if (bound.confirmation.status !== "approved") return planPartial(parts, whole, { bound, about });
  const clearance: Clearance =
    owner === undefined
      ? { ok: false, elsewhere: true }
      : await clear(
          parts,
          { session: whole.session, frame: whole.frame, ...bound },
          { now: whole.now, digested: true, counting: about.counting },
        );
  if (!clearance.ok && !clearance.elsewhere) {
    const { draft, message, ...taken } = await takeBack(parts, whole, { blocked: clearance, owner, last });
    return { draft, value: { ...refusal(clearance.code, message), ...taken } };
  }
  return writeApproval(parts, whole, { bound, clearance, about });
}

// Not a mistake: somebody tried something that they may not do, or changed the ledger.
const AUDITED: ReadonlySet<ErrorCode> = new Set(["not-an-approver", "arguments-altered"]);

interface Bound {
  readonly ok: true;
  readonly vote: Vote;
  /** Whose votes ended with it. */
  readonly ended: readonly string[];
  /** As they will be with this vote. */
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  /** With a grant across sessions: the others like it. */
  readonly shared?: SharedGrants;
}

/** Binds the approval to these arguments and this payload, or says why it is not possible. */
async function bind(parts: EngineParts, whole: Whole, about: OwnedCase): Promise<Bound | RefusedDecision> {
  const { confirmation, call: stored } = whole;
  const { digestKey } = parts.ledger;
  const isAsked = stored.confirmation === confirmation.id && isAbout(confirmation, stored);
  if (!isAsked || valueDigest(digestKey, stored.args) !== confirmation.argsDigest) {
    const message = "The stored call or its arguments differ from what was shown. It will not run.";
    return { ...refusal("arguments-altered", message), confirmation, call: stored };
  }
  const amended = await judgeAmendment(parts, whole, about);
  if (!amended.ok) return amended.refusal;
  const judged = await judgePayloadHere(parts, whole, about.input.payload);
  if (!judged.ok) {
    const message = `The payload is invalid: ${judged.field || "payload"}: ${judged.message}`;
    return { ...refusal("payload-mismatch", message), field: judged.field, confirmation, call: stored };
  }
  const granted = await grantIn(parts, { ...whole, call: { ...stored, args: amended.args } }, about);
  if (!granted.ok) return granted;
  const { grant, shared } = granted;
  const bound = cast(parts, whole, { about, amended, payload: judged.payload, grant });
  return bound.ok && shared !== undefined ? { ...bound, shared } : bound;
}

/** What the vote grants beside this call, or why that cannot be granted. */
async function grantIn(
  parts: EngineParts,
  { confirmation, call, session, now }: Whole,
  { input }: OwnedCase,
): Promise<({ readonly ok: true; readonly grant?: GrantLimits } & Pick<Bound, "shared">) | RefusedDecision> {
  if (input.grant === undefined) return { ok: true };
  const refuse = (message: string): RefusedDecision => ({
    ...refusal("grant-refused", message),
    field: "grant",
    confirmation,
    call,
  });
  const terms = readTerms(confirmation.grants, input.grant);
  if (!terms.ok) return refuse(terms.message);
  const unmet = unmetBy(parts, terms.limits, call);
  if (unmet !== undefined) return refuse(`The grant cannot be given: ${unmet}.`);
  const shared = isShared(terms.limits) ? await readShared(parts, confirmation) : undefined;
  if (!hasRoomForGrant(shared?.grants ?? session.grants ?? [], now))
    return refuse(
      `${shared === undefined ? "The session has" : "There are"} too many grants. Revoke one first.`,
    );
  return { ok: true, grant: terms.limits, ...(shared === undefined ? {} : { shared }) };
}

/** Gives the vote its place, and counts it with the others. */
function cast(
  parts: EngineParts,
  whole: Whole,
  {
    about,
    amended,
    payload,
    grant,
  }: {
    readonly about: OwnedCase;
    readonly amended: Extract<AmendmentOutcome, { ok: true }>;
    readonly payload: JsonValue | undefined;
    readonly grant: GrantLimits | undefined;
  },
): Bound | RefusedDecision {
  const { confirmation, call: stored } = whole;
  const { args, argsDigest } = amended;
  const isAmended = args !== stored.args;
  // People who approved other arguments did not approve these.
  const others = isAmended ? [] : about.votesSoFar.others;
  const asked = { ...amended.asked, votes: others };
  const place = placeFor(asked, { about, payload, grant });
  if (!place.ok) return { ...place, confirmation, call: stored };
  const vote = signedVote(parts, { confirmation: asked, call: stored }, about, {
    confirmed: true,
    at: whole.now,
    slot: place.slot,
    ...delegatedBy(place.voter),
    ...(payload === undefined ? {} : { payload }),
    ...(isAmended ? { args } : {}),
    ...(grant === undefined ? {} : { grant }),
    ...(amended.sentDigest === undefined ? {} : { sentDigest: amended.sentDigest }),
  });
  const voted = signedQuestion(parts, { ...asked, votes: [...others, vote] });
  const isApproved = tally(voted, about.counting).outcome === "approved";
  return {
    ok: true,
    vote,
    ended: isAmended ? confirmation.votes.map(({ by }) => by.id) : about.votesSoFar.ended,
    confirmation: isApproved ? { ...voted, status: "approved" } : voted,
    call: { ...stored, args, argsDigest },
  };
}

/** The slot that this approval fills, or why it fills none. */
function placeFor(
  asked: ConfirmationRecord,
  {
    about,
    payload,
    grant,
  }: {
    readonly about: OwnedCase;
    readonly payload: JsonValue | undefined;
    readonly grant: GrantLimits | undefined;
  },
): ({ readonly ok: true } & FreePlace) | RefusedDecision {
  const { by } = about.decider;
  const { counting } = about;
  if (!mayDecide(asked, by, counting))
    return refusal("not-an-approver", `${by.id} may not approve these arguments.`);
  if (!mayApprove(asked, by, counting)) {
    const message = `${by.id} and the requester count as one person because of a delegation, so ${by.id} may only deny this. Revoke the delegation first.`;
    return refusal("not-an-approver", message);
  }
  const other = asked.votes.find((vote) => vote.confirmed && !sameJson(vote.payload, payload));
  if (other !== undefined) {
    const message = `${other.by.id} approved this with another payload. Send the same payload.`;
    return { ...refusal("payload-mismatch", message), field: "payload" };
  }
  const apart = asked.votes.find((vote) => vote.confirmed && !sameLimits(vote.grant, grant));
  if (apart !== undefined) {
    const message = `${apart.by.id} approved this ${apart.grant === undefined ? "without a grant" : "with another grant"}. All approvers must give the same grant.`;
    return { ...refusal("grant-refused", message), field: "grant" };
  }
  const place = freePlace(asked, by, counting);
  if (place !== undefined) return { ok: true, ...place };
  const same = approvedWith(asked, { by }, counting);
  const message =
    same === undefined
      ? `No approval by ${by.id} is needed any more.`
      : `${same.by.id} has already approved this, and counts as one person with ${by.id} because of a delegation. Revoke the delegation first, or let somebody else approve.`;
  return refusal("already-decided", `${message} So far: ${describeProgress(asked)}.`);
}

function planPartial(
  parts: EngineParts,
  whole: Whole,
  { bound, about }: { readonly bound: Bound; readonly about: OwnedCase },
): Plan<Decided | RefusedDecision> {
  const { vote, ended, confirmation } = bound;
  if (bound.call.args === whole.call.args)
    return writeVote(parts, whole, { vote, ended, votes: confirmation.votes, counting: about.counting });
  return writeAmendedQuestion(parts, whole, { ...bound, ...about });
}

function writeApproval(
  parts: EngineParts,
  whole: Whole,
  input: { readonly bound: Bound; readonly clearance: Clearance; readonly about: OwnedCase },
): Plan<Decided> {
  const { session, frame, call: stored } = whole;
  const { bound, clearance, about } = input;
  const { owner } = about;
  const { vote, shared } = bound;
  const draft = new Draft(parts, whole.now, session).sync();
  relyOnDelegations(draft, bound.confirmation.votes, about.counting);
  const { argsDigest, votes } = bound.confirmation;
  const confirmation = draft.moveConfirmation(whole.confirmation, "approve", {
    deadline: "ahead",
    votes,
    ...(argsDigest === whole.confirmation.argsDigest ? {} : amendedQuestion(parts, whole, bound)),
  });
  writeClosingEvent(draft, { confirmation, call: stored, frame, closing: { how: "approve", vote } });
  if (vote.grant !== undefined) {
    const beside = shared === undefined ? {} : { shared };
    mintGrant(parts, draft, { confirmation, call: stored, limits: vote.grant, ...beside });
  }
  if (!clearance.ok || owner === undefined) {
    const call = draft.moveCall(stored, "approve", argumentsChange(stored, bound.call));
    draft.journal("confirmation-approved", approvalBody(confirmation, call, bound));
    return { draft, value: { ok: true, repeated: false, session, confirmation, call } };
  }
  relyOnGrant(draft, clearance);
  const call = writeClaim(draft, { stored, first: "approve", call: bound.call, owner });
  draft.journal("confirmation-approved", approvalBody(confirmation, call, bound));
  const claimed = { session, call, confirmation, frame, tool: clearance.tool, owner, draft };
  return { draft, value: { ok: true, repeated: false, session, confirmation, call, claimed } };
}

/** What is stored of a question whose arguments were amended and approved at once: its votes are counted by it later. */
function amendedQuestion(
  parts: EngineParts,
  { confirmation: before }: Whole,
  { confirmation: { argsDigest, requirements, escalations = [], policy = [] } }: Bound,
): ConfirmationChange {
  const change = {
    argsDigest,
    requirements,
    ...(before.escalations === undefined && escalations.length === 0 ? {} : { escalations }),
    ...(before.policy === undefined && policy.length === 0 ? {} : { policy }),
  };
  const { mac } = signedQuestion(parts, { ...before, ...change });
  return { ...change, ...(mac === undefined ? {} : { mac }) };
}

function approvalBody(
  confirmation: ConfirmationRecord,
  call: CallRecord,
  { vote, ended }: Pick<Bound, "vote" | "ended">,
): BodyOf<"confirmation-approved"> {
  const { status, attempt, owner } = call;
  return {
    ...subjectOf(confirmation, call),
    ...voteBody(vote, ended),
    ...(status === "executing" && owner !== undefined ? { started: { attempt, owner } } : {}),
    ...(vote.args === undefined ? {} : { amended: amendmentOf(call, vote.args) }),
  };
}

/** What the approver changed, without secrets. */
function amendmentOf(
  { originalArgs = {}, secrets }: CallRecord,
  args: JsonObject,
): NonNullable<BodyOf<"confirmation-approved">["amended"]> {
  return { fields: changedMembers(originalArgs, args), args: redact(args, secrets) };
}
