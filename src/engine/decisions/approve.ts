import type { ErrorCode, JsonObject } from "../../protocol/index.ts";
import { argumentsChange, type Clearance, clear, isAbout, writeClaim } from "../calls/index.ts";
import { changedMembers, redact, valueDigest } from "../common/index.ts";
import type { BodyOf } from "../journal/index.ts";
import { type CallRecord, type ConfirmationRecord, Draft, type Plan, type Vote } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { judgePayloadHere, subjectOf, takeBack, voteBody, writeClosingEvent } from "../questions/index.ts";
import { judgeAmendment } from "./amend.ts";
import { type Decided, type OwnedCase, type RefusedDecision, refusal, type Whole } from "./decision.ts";
import { auditedRefusal } from "./refuse.ts";
import { signedVote } from "./vote.ts";

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
  const clearance: Clearance =
    owner === undefined
      ? { ok: false, elsewhere: true }
      : await clear(parts, { session: whole.session, frame: whole.frame, ...bound }, { digested: true });
  if (!clearance.ok && !clearance.elsewhere) {
    const { draft, message, ...taken } = await takeBack(parts, whole, { blocked: clearance, owner, last });
    return { draft, value: { ...refusal(clearance.code, message), ...taken } };
  }
  return writeApproval(parts, whole, { bound, clearance, owner });
}

// Not a mistake: somebody tried something that they may not do, or changed the ledger.
const AUDITED: ReadonlySet<ErrorCode> = new Set(["not-an-approver", "arguments-altered"]);

interface Bound {
  readonly ok: true;
  readonly vote: Vote;
  /** As they will be once approved. */
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
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
  const { args, argsDigest } = amended;
  const judged = await judgePayloadHere(parts, whole, about.input.payload);
  if (!judged.ok) {
    const message = `The payload is invalid: ${judged.field || "payload"}: ${judged.message}`;
    return { ...refusal("payload-mismatch", message), field: judged.field, confirmation, call: stored };
  }
  const subject = { confirmation: { ...confirmation, argsDigest }, call: stored };
  const vote = signedVote(parts, subject, about, {
    confirmed: true,
    at: whole.now,
    ...(judged.payload === undefined ? {} : { payload: judged.payload }),
    ...(args === stored.args ? {} : { args }),
    ...(amended.sentDigest === undefined ? {} : { sentDigest: amended.sentDigest }),
  });
  return {
    ok: true,
    vote,
    confirmation: { ...confirmation, argsDigest, status: "approved", votes: [...confirmation.votes, vote] },
    call: { ...stored, args, argsDigest },
  };
}

function writeApproval(
  parts: EngineParts,
  whole: Whole,
  input: { readonly bound: Bound; readonly clearance: Clearance; readonly owner: string | undefined },
): Plan<Decided> {
  const { session, frame, call: stored } = whole;
  const { bound, clearance, owner } = input;
  const { vote } = bound;
  const draft = new Draft(parts, whole.now, session).sync();
  const { argsDigest, votes } = bound.confirmation;
  const confirmation = draft.moveConfirmation(whole.confirmation, "approve", {
    deadline: "ahead",
    votes,
    ...(argsDigest === whole.confirmation.argsDigest ? {} : { argsDigest }),
  });
  writeClosingEvent(draft, { confirmation, call: stored, frame, closing: { how: "approve", vote } });
  if (!clearance.ok || owner === undefined) {
    const call = draft.moveCall(stored, "approve", argumentsChange(stored, bound.call));
    draft.journal("confirmation-approved", approvalBody(confirmation, call, vote));
    return { draft, value: { ok: true, repeated: false, session, confirmation, call } };
  }
  const call = writeClaim(draft, { stored, first: "approve", call: bound.call, owner });
  draft.journal("confirmation-approved", approvalBody(confirmation, call, vote));
  const claimed = { session, call, confirmation, frame, tool: clearance.tool, owner, draft };
  return { draft, value: { ok: true, repeated: false, session, confirmation, call, claimed } };
}

function approvalBody(
  confirmation: ConfirmationRecord,
  call: CallRecord,
  vote: Vote,
): BodyOf<"confirmation-approved"> {
  const { status, attempt, owner } = call;
  return {
    ...subjectOf(confirmation, call),
    ...voteBody(vote),
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
