import { type ErrorCode, type JsonObject, type JsonValue } from "../protocol/index.ts";
import { judgeAmendment } from "./amend.ts";
import { moveCall } from "./answer.ts";
import { mayDecide } from "./authority.ts";
import { argumentsChange, type Claimed, clear, writeClaim } from "./claim.ts";
import { subjectOf, voteBody, writeClosing, writeClosingEvent } from "./close.ts";
import { voteMac } from "./decision-mac.ts";
import { valueDigest } from "./digest.ts";
import { Draft } from "./draft.ts";
import { writeExpiry } from "./expire.ts";
import type { Snapshot } from "./ledger.ts";
import type { EngineParts } from "./parts.ts";
import { judgePayload, sameJson } from "./payload.ts";
import type { Principal } from "./principal.ts";
import { takeBack } from "./reask.ts";
import type { CallRecord, ConfirmationRecord, FrameRecord, Vote } from "./records.ts";
import { type Conflict, type Plan, transact } from "./transact.ts";

/** What somebody says about one confirmation, through whichever door. */
export interface DecisionInput {
  readonly id: string;
  readonly confirmed: boolean;
  readonly payload?: JsonValue;
  readonly reason?: string;
  /** The arguments to run instead, where the tool allows that. */
  readonly args?: JsonObject;
  /** What was shown when they decided; refused if it changed since. */
  readonly version?: number;
}

/** Who decides, and through which door. */
export interface Decider {
  readonly by: Principal;
  readonly via: string;
}

/** A decision that was not taken; nothing changed but, where it says so, the audit trail. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string;
  readonly confirmation?: ConfirmationRecord;
  readonly call?: CallRecord;
  /** The refusal ended the call, and with it a turn that this process now goes on with. */
  readonly stepping?: FrameRecord;
}

/** A committed decision, or the stored one that this repeats. */
export interface Decided {
  readonly ok: true;
  readonly confirmation: ConfirmationRecord;
  readonly call: CallRecord;
  /** The same decision stood already. */
  readonly repeated: boolean;
  readonly claimed?: Claimed;
  readonly stepping?: FrameRecord;
}

type Whole = Snapshot & { readonly call: CallRecord; readonly confirmation: ConfirmationRecord };

/**
 * Commits one decision: authorised, bound, in time, and with the call claimed in the same transaction where
 * this process can run it. The first valid decision stands; the same again is answered with it.
 */
export async function decide(
  parts: EngineParts,
  input: DecisionInput,
  decider: Decider,
): Promise<Decided | Refusal> {
  return transact<Decided | Refusal>(parts, { confirmation: input.id }, async (snapshot, last) => {
    if (!isWhole(snapshot)) {
      return { value: refusal("unknown-confirmation", `There is no confirmation ${input.id}.`) };
    }
    return judge(parts, snapshot, { input, decider, last });
  });
}

interface Case {
  readonly input: DecisionInput;
  readonly decider: Decider;
  readonly last: Conflict | undefined;
}

async function judge(parts: EngineParts, whole: Whole, about: Case): Promise<Plan<Decided | Refusal>> {
  const { confirmation, call, now } = whole;
  const { input, decider } = about;
  if (!mayDecide(confirmation, decider.by)) return refuseStranger(parts, whole, about);
  if (confirmation.status !== "requested") return { value: judgeAgain(whole, input) };
  if (input.version !== undefined && input.version !== confirmation.shownVersion) {
    const message = `Version ${input.version} was shown; ${confirmation.shownVersion} is what would run now. Look again.`;
    return { value: { ...refusal("stale-version", message), confirmation, call } };
  }
  const owner = parts.hosts.size === 0 ? undefined : await parts.lease.hold();
  if (confirmation.expiresAt !== undefined && confirmation.expiresAt <= now) {
    const draft = new Draft(parts, now, whole.session);
    const expired = writeExpiry(parts, draft, { ...whole, owner, last: about.last });
    return { draft, value: { ...expiredRefusal(confirmation), ...expired } };
  }
  return input.confirmed
    ? approve(parts, whole, { ...about, owner })
    : deny(parts, whole, { ...about, owner });
}

interface OwnedCase extends Case {
  readonly owner: string | undefined;
}

function deny(parts: EngineParts, whole: Whole, about: OwnedCase): Plan<Decided | Refusal> {
  const { confirmation, call, frame, now } = whole;
  const vote = signedVote(parts, confirmation, { ...voteOf(about, now), confirmed: false });
  const draft = new Draft(parts, now, whole.session).sync();
  const closing = { how: "deny", vote } as const;
  const closed = writeClosing(parts, draft, {
    confirmation,
    call,
    frame,
    closing,
    owner: about.owner,
    last: about.last,
  });
  return { draft, value: { ok: true, repeated: false, ...closed } };
}

async function approve(parts: EngineParts, whole: Whole, about: OwnedCase): Promise<Plan<Decided | Refusal>> {
  const { confirmation, call: stored, frame, now } = whole;
  const { input, owner } = about;
  if (valueDigest(parts.ledger.digestKey, stored.args) !== confirmation.argsDigest) {
    const message = "The stored arguments are not those that were shown; this call will not run.";
    return { value: { ...refusal("arguments-altered", message), confirmation, call: stored } };
  }
  const amended = await judgeAmendment(parts, whole, { input, decider: about.decider });
  if (!amended.ok) return { value: amended.refusal };
  const { args, argsDigest } = amended;
  const payload = judgePayload(confirmation.shown, args, input.payload);
  if (!payload.ok) {
    const message = `The payload does not fit: ${payload.field || "payload"}: ${payload.message}`;
    return {
      value: { ...refusal("payload-mismatch", message), field: payload.field, confirmation, call: stored },
    };
  }
  const bound = { ...confirmation, argsDigest };
  const vote = signedVote(parts, bound, {
    ...voteOf(about, now),
    confirmed: true,
    ...(payload.payload === undefined ? {} : { payload: payload.payload }),
    ...(args === stored.args ? {} : { args }),
  });
  const approved: ConfirmationRecord = { ...bound, status: "approved", votes: [...confirmation.votes, vote] };
  const ready: CallRecord = { ...stored, status: moveCall(stored, "approve"), args, argsDigest };
  const clearance =
    owner === undefined ? ({ ok: false, elsewhere: true } as const) : clear(parts, ready, approved);
  if (!clearance.ok && !clearance.elsewhere) {
    const { draft, message, ...taken } = takeBack(parts, whole, {
      blocked: clearance,
      owner,
      last: about.last,
    });
    return { draft, value: { ...refusal(clearance.code, message), ...taken } };
  }
  const draft = new Draft(parts, now, whole.session).sync();
  draft.write({
    kind: "confirmation-update",
    id: confirmation.id,
    from: "requested",
    deadline: "ahead",
    set: {
      status: "approved",
      votes: approved.votes,
      ...(argsDigest === confirmation.argsDigest ? {} : { argsDigest }),
    },
  });
  writeClosingEvent(draft, { confirmation, call: stored, frame, closing: { how: "approve", vote } });
  const call =
    clearance.ok && owner !== undefined
      ? writeClaim(draft, { stored, call: ready, owner })
      : writeReady(draft, stored, ready);
  draft.journal("confirmation-approved", approvalBody(approved, call, vote));
  const value = { ok: true, repeated: false, confirmation: approved, call } as const;
  if (!clearance.ok || owner === undefined) return { draft, value };
  const { session } = whole;
  return {
    draft,
    value: {
      ...value,
      claimed: { session, call, confirmation: approved, frame, tool: clearance.tool, owner },
    },
  };
}

function writeReady(draft: Draft, stored: CallRecord, ready: CallRecord): CallRecord {
  const set = { status: ready.status, ...argumentsChange(stored, ready) };
  draft.write({ kind: "call-update", id: stored.id, from: stored.status, attempt: stored.attempt, set });
  return ready;
}

function approvalBody(confirmation: ConfirmationRecord, call: CallRecord, vote: Vote): JsonObject {
  return {
    ...subjectOf(confirmation, call),
    ...voteBody(vote),
    ...(call.status === "executing" && call.owner !== undefined
      ? { started: { attempt: call.attempt, owner: call.owner } }
      : {}),
  };
}

/** The decision stands already: the same one gets it again, another one learns whose it is. */
function judgeAgain({ confirmation, call }: Whole, input: DecisionInput): Decided | Refusal {
  const standing = { confirmation, call };
  const vote = confirmation.votes.at(-1);
  if (confirmation.status === "expired") return { ...expiredRefusal(confirmation), ...standing };
  if (confirmation.status === "cancelled" || vote === undefined) {
    return {
      ...refusal("withdrawn", `The question was withdrawn: ${confirmation.withdrawal ?? "no reason given"}.`),
      ...standing,
    };
  }
  if (isSameDecision(vote, input, confirmation, call)) return { ok: true, repeated: true, ...standing };
  const verdict = vote.confirmed ? "approved" : "denied";
  const at = new Date(vote.at).toISOString();
  return { ...refusal("already-decided", `${vote.by.id} ${verdict} this at ${at}.`), ...standing };
}

function isSameDecision(
  vote: Vote,
  input: DecisionInput,
  confirmation: ConfirmationRecord,
  call: CallRecord,
): boolean {
  if (vote.confirmed !== input.confirmed) return false;
  if (!input.confirmed) return true;
  const amendedAlike =
    input.args === undefined ? vote.args === undefined : sameJson(input.args, vote.args ?? call.args);
  const payload = judgePayload(confirmation.shown, call.args, input.payload);
  return amendedAlike && payload.ok && sameJson(payload.payload, vote.payload);
}

// Somebody tried a door that is not theirs: nothing changes, but it is on record.
function refuseStranger(parts: EngineParts, whole: Whole, { input, decider }: Case): Plan<Refusal> {
  const { confirmation, call } = whole;
  const draft = new Draft(parts, whole.now, whole.session);
  const { id, kind, authenticated } = decider.by;
  draft.journal("decision-refused", {
    ...subjectOf(confirmation, call),
    code: "not-an-approver",
    by: { id, kind, authenticated },
    via: decider.via,
    confirmed: input.confirmed,
  });
  const message = `${decider.by.id} may not decide this; ${describeApprovers(confirmation)} may.`;
  return { draft, value: { ...refusal("not-an-approver", message), confirmation, call } };
}

function describeApprovers({ approvers }: ConfirmationRecord): string {
  if (approvers === "requester") return "whoever asked for it";
  const { roles = [], users = [], notRequester } = approvers;
  const who =
    [...roles.map((role) => `the role ${role}`), ...users].join(" or ") || "somebody else who is logged in";
  return notRequester ? `${who} (but not whoever asked)` : who;
}

function voteOf({ input, decider }: Case, now: number): Omit<Vote, "mac" | "confirmed"> {
  return {
    by: decider.by,
    via: decider.via,
    at: now,
    ...(input.reason === undefined ? {} : { reason: input.reason }),
  };
}

function signedVote(parts: EngineParts, confirmation: ConfirmationRecord, vote: Omit<Vote, "mac">): Vote {
  return parts.secret === undefined ? vote : { ...vote, mac: voteMac(parts.secret, confirmation, vote) };
}

function expiredRefusal(confirmation: ConfirmationRecord): Refusal {
  const at = new Date(confirmation.expiresAt ?? 0).toISOString();
  return refusal("expired", `The deadline was ${at}; the call did not run and the model was told so.`);
}

function refusal(code: ErrorCode, message: string): Refusal {
  return { ok: false, code, message };
}

function isWhole(snapshot: Snapshot | undefined): snapshot is Whole {
  return snapshot?.confirmation !== undefined && snapshot.call !== undefined;
}
