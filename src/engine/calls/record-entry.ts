import {
  CountersignError,
  canonicalJson,
  type ErrorCode,
  type JsonObject,
  type JsonValue,
} from "../../protocol/index.ts";
import { bodyDigest } from "../common/index.ts";
import { cancelledAnswer, newFrame, wordingOf, writeAnswer } from "../frames/index.ts";
import {
  afterCommit,
  type CallRecord,
  type CallStatus,
  type Conflict,
  Draft,
  type FrameRecord,
  type Judge,
  type Known,
  leavesToOthers,
  type Plan,
  type Shown,
  type Snapshot,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { oneApproval } from "../people/index.ts";
import { defaultHint, newConfirmation, tooManyAsked, writeQuestions } from "../questions/index.ts";
import { type Delegation, delegateFrameId } from "./call-end.ts";
import type { Claimed } from "./claim.ts";
import type { Ended } from "./executions.ts";
import { endOf, isClaimLost, markClaimLost } from "./lost-claim.ts";
import type { OpenAsk } from "./replay.ts";
import { writeLostSteps } from "./save-step.ts";
import { answersTool, toolConfirmationOf } from "./tool-confirmation.ts";

/** How one run of a function ended. */
export type EntryOutcome =
  | {
      readonly kind: "succeeded";
      readonly result: JsonValue;
      readonly stateDelta?: JsonObject;
      readonly cursor?: JsonObject;
      readonly learned?: { readonly [call: string]: JsonValue };
    }
  /** The work was delegated to another agent. */
  | { readonly kind: "delegated"; readonly delegation: Delegation }
  | { readonly kind: "failed"; readonly error: JsonObject }
  | { readonly kind: "unknown"; readonly reason: string }
  | { readonly kind: "asked"; readonly ask: OpenAsk }
  /** The function never started. */
  | { readonly kind: "not-started"; readonly error?: unknown }
  /** Another process already owns the call. */
  | { readonly kind: "lost" };

type Held = Snapshot & { readonly call: CallRecord };

/**
 * Records how a run ended, if this attempt still holds the call, or if the call became `unknown` and nobody has settled
 * it. If the ledger shows the call as not started, it becomes `unknown`, because it did run. Any other result is only
 * journalled. `known` is what this command or process knows of the call.
 */
export async function recordEntry(
  parts: EngineParts,
  claimed: Claimed,
  outcome: EntryOutcome,
  known: Known | undefined = knownEnd(parts, claimed, outcome),
): Promise<Ended> {
  const { id, attempt } = claimed.call;
  const judge: Judge<Ended> = async (snapshot, last) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) return { value: {} };
    const held: Held = { ...snapshot, call };
    const ours =
      call.attempt === attempt &&
      call.owner === claimed.owner &&
      (call.status === "executing" || call.status === "unknown");
    if (!ours) return recordTooLate(parts, held, { claimed, outcome });
    return plan(parts, claimed, held, { outcome, last });
  };
  return transact(parts, { call: id }, judge, known);
}

/**
 * What this process knows of a call that ran here to its end. The function may have changed the arguments; they are
 * read again before they are shown.
 */
function knownEnd(parts: EngineParts, claimed: Claimed, { kind }: EntryOutcome): Known | undefined {
  const { call, confirmation, frame } = claimed;
  const ended = kind === "succeeded" || kind === "failed";
  const left = ended && call.originalArgs === undefined ? afterCommit(parts, claimed.draft) : undefined;
  if (left === undefined) return undefined;
  return {
    snapshot: {
      ...left,
      call,
      ...(confirmation === undefined ? {} : { confirmation }),
      ...(frame === undefined ? {} : { frame }),
    },
  };
}

interface Case {
  readonly outcome: EntryOutcome;
  readonly last: Conflict | undefined;
}

async function plan(
  parts: EngineParts,
  claimed: Claimed,
  held: Held,
  { outcome, last }: Case,
): Promise<Plan<Ended>> {
  switch (outcome.kind) {
    case "lost":
      return { value: { call: held.call } };
    case "not-started":
      return giveBack(parts, held);
    case "unknown":
      return loseTrack(parts, held, outcome.reason);
    case "asked":
      return suspend(parts, claimed, held, { ask: outcome.ask, last });
    case "delegated":
      // A denied call may word its answer, but must not delegate work.
      if (held.call.refused) return answer(parts, held, { ok: false, result: null, last });
      return delegate(parts, held, outcome.delegation, last);
    case "succeeded":
      return answer(parts, held, { ...outcome, ok: true, last });
    case "failed":
      return answer(parts, held, { ok: false, result: outcome.error, last });
  }
}

async function answer(
  parts: EngineParts,
  { call, confirmation, frame, session, now }: Held,
  end: {
    readonly ok: boolean;
    readonly result: JsonValue;
    readonly stateDelta?: JsonObject;
    readonly cursor?: JsonObject;
    readonly learned?: { readonly [call: string]: JsonValue };
    readonly last: Conflict | undefined;
  },
): Promise<Plan<Ended>> {
  const owner = frame === undefined ? undefined : await parts.lease.hold();
  const draft = new Draft(parts, now, session);
  // Refused once: one of them has left the document. What ended must be stored all the same.
  if (end.learned !== undefined && end.last !== "row")
    await writeLearned(parts, draft, { of: call, learned: end.learned });
  // The call stays denied, whatever the tool returns as its answer.
  const command = call.refused ? wordingOf(confirmation) : end.ok ? "succeed" : "fail";
  const answered = writeAnswer(parts, draft, { ...end, call, frame, command, owner });
  journalEnd(parts, draft, { before: call, after: answered.call, result: answered.call.result ?? null });
  return { draft, value: answered };
}

/** Replaces the results of earlier calls of the same frame; other calls cannot be changed this way. */
async function writeLearned(
  { ledger }: EngineParts,
  draft: Draft,
  { of, learned }: { readonly of: CallRecord; readonly learned: { readonly [call: string]: JsonValue } },
): Promise<void> {
  const known = await ledger.calls(Object.keys(learned));
  for (const call of known) {
    const { id, tool, status, attempt, frame } = call;
    const result = learned[id];
    if (result === undefined || status !== "succeeded" || frame === undefined || frame !== of.frame) continue;
    draft.changeCall(call, { result });
    const resultDigest = bodyDigest(ledger.digestKey, canonicalJson(result));
    draft.journal("call-result", { call: id, tool, attempt, resultDigest });
  }
}

const END_KINDS: {
  readonly [status in CallStatus]?: "call-succeeded" | "call-failed" | "call-denied" | "call-expired";
} = {
  succeeded: "call-succeeded",
  failed: "call-failed",
  denied: "call-denied",
  expired: "call-expired",
};

/** Journals that a call's function ended. */
export function journalEnd(
  { ledger }: EngineParts,
  draft: Draft,
  end: { readonly before: CallRecord; readonly after: CallRecord; readonly result: JsonValue },
): void {
  const { id, tool, attempt, status } = end.before;
  const kind = END_KINDS[end.after.status];
  if (kind === undefined)
    throw new CountersignError("internal", `Call ${id} is ${end.after.status}; this is not a final status.`);
  draft.journal(kind, {
    call: id,
    tool,
    attempt,
    resultDigest: bodyDigest(ledger.digestKey, canonicalJson(end.result)),
    ...(status === "unknown" ? { late: true } : {}),
  });
}

const RUN_STOPPED = "the run was stopped before the other agent started";
const RUN_STOPPED_ASKING = "the run was stopped before the tool asked";

/** Opens a frame for the other agent. The call waits for its result, without a lease. */
async function delegate(
  parts: EngineParts,
  held: Held,
  delegation: Delegation,
  last: Conflict | undefined,
): Promise<Plan<Ended>> {
  const { call, frame, session, now } = held;
  if (frame === undefined || call.status !== "executing") return { value: { call } };
  // Nothing would stop the other agent.
  if (frame.status === "cancelled")
    return answer(parts, held, { ok: false, result: { error: RUN_STOPPED }, last });
  const { message, ...rest } = delegation;
  const draft = new Draft(parts, now, session);
  const delegated = draft.moveCall(call, "delegate", { owner: null });
  draft.journal("call-delegated", { call: call.id, tool: call.tool, agent: rest.agent });
  draft.event({
    author: "user",
    invocationId: frame.invocation,
    branch: rest.branch,
    content: { role: "user", parts: [{ text: message }] },
  });
  const owner = leavesToOthers(last) ? undefined : await parts.lease.hold();
  const child: FrameRecord = {
    ...newFrame({
      ...rest,
      path: [...frame.path, rest.agent],
      id: delegateFrameId(call.id),
      parent: frame,
    }),
    parentCall: call.id,
    ...(owner === undefined ? { status: "ready" } : { status: "stepping", owner }),
  };
  if (owner !== undefined) draft.claimedBy(owner);
  draft.insertFrame(child);
  return { draft, value: { call: delegated, ...(owner === undefined ? {} : { stepping: child }) } };
}

function giveBack(parts: EngineParts, { call, session, now }: Held): Plan<Ended> {
  const draft = new Draft(parts, now, session);
  draft.journal("call-released", { call: call.id, tool: call.tool, attempt: call.attempt });
  return { draft, value: { call: draft.moveCall(call, "release", { owner: null }) } };
}

function loseTrack(parts: EngineParts, { call, session, now }: Held, reason: string): Plan<Ended> {
  if (call.status === "unknown") return { value: { call } };
  const draft = new Draft(parts, now, session);
  draft.journal("call-unknown", { call: call.id, tool: call.tool, attempt: call.attempt, reason });
  return { draft, value: { call: draft.moveCall(call, "lose") } };
}

async function suspend(
  parts: EngineParts,
  claimed: Claimed,
  held: Held,
  { ask, last }: { readonly ask: OpenAsk; readonly last: Conflict | undefined },
): Promise<Plan<Ended>> {
  const { call, frame, session, now } = held;
  // If the call is unknown by now, a person may already be settling it; another question would mislead them.
  if (call.status === "unknown") return { value: { call } };
  const refused = refusalToAsk(parts, held);
  if (refused !== undefined) return failAsking(parts, held, { ...refused, last });
  const { approvers, expiresInMs } = claimed.tool.asking;
  // For a gated function, the user is the last caller; for a run, it is the session's user.
  const user = call.frame === undefined ? (call.requesters?.at(-1) ?? session.user) : session.user;
  const confirmation = newConfirmation(parts, now, {
    session: { app: session.app, user },
    call,
    frame,
    question: {
      requirements: oneApproval(approvers),
      requesters: call.requesters ?? held.confirmation?.requesters ?? [session.user],
      shown: shownOf(call, claimed, ask),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    },
  });
  const draft = new Draft(parts, now, session);
  await writeLostSteps(parts, draft, { call, ended: ask.ended ?? [] });
  const update = { confirmation: confirmation.id, rounds: call.rounds + 1, owner: null };
  const suspended = draft.moveCall(call, "ask", update);
  if (ask.step !== undefined) draft.write({ kind: "step", step: { ...ask.step, value: confirmation.id } });
  writeQuestions(draft, frame, [{ call: suspended, confirmation }]);
  return { draft, value: { call: suspended, asked: { call: suspended, confirmation } } };
}

/** Why a running call may not ask, as the model is told; undefined if it may. */
function refusalToAsk(
  parts: EngineParts,
  held: Held,
): { readonly result: JsonObject; readonly code: ErrorCode } | undefined {
  // The questions of its run were withdrawn, and nothing would go on after an answer to this one.
  if (held.frame?.status === "cancelled")
    return { result: cancelledAnswer(RUN_STOPPED_ASKING, held.call), code: "withdrawn" };
  const result = tooManyAsked(parts, held);
  return result === undefined ? undefined : { result, code: "too-many-open" };
}

function shownOf(call: CallRecord, { tool, confirmation }: Claimed, { options, step }: OpenAsk): Shown {
  const { hint, payload, schema } = options;
  const { onDenied } = tool.asking;
  const startedWith = step === undefined ? undefined : toolConfirmationOf(call, confirmation);
  return {
    hint: hint ?? defaultHint(call.tool),
    why: ["the tool asks"],
    askedByTool: true,
    ...(payload === undefined ? {} : { payload }),
    ...(schema === undefined ? {} : { schema }),
    ...(step === undefined ? {} : { question: step.name }),
    ...(startedWith === undefined ? {} : { startedWith }),
    ...(startedWith !== undefined && answersTool(confirmation) ? { startedByTool: true } : {}),
    ...(onDenied === undefined ? {} : { onDenied }),
  };
}

async function failAsking(
  parts: EngineParts,
  { call, frame, session, now }: Held,
  {
    result,
    code,
    last,
  }: { readonly result: JsonObject; readonly code: ErrorCode; readonly last: Conflict | undefined },
): Promise<Plan<Ended>> {
  const owner = frame === undefined ? undefined : await parts.lease.hold();
  const draft = new Draft(parts, now, session);
  const answered = writeAnswer(parts, draft, {
    call,
    frame,
    command: "fail",
    result,
    owner,
    last,
  });
  draft.journal("call-failed", {
    call: call.id,
    tool: call.tool,
    attempt: call.attempt,
    code,
  });
  return { draft, value: answered };
}

function recordTooLate(
  parts: EngineParts,
  held: Held,
  { claimed, outcome }: { readonly claimed: Claimed; readonly outcome: EntryOutcome },
): Plan<Ended> {
  const { attempt } = claimed.call;
  if (isClaimLost(held.call, claimed.call) && outcome.kind !== "not-started")
    return markClaimLost(parts, held, { attempt, outcome });
  if (outcome.kind !== "succeeded" && outcome.kind !== "failed") return { value: {} };
  const { call, session, now } = held;
  const draft = new Draft(parts, now, session);
  // In an erased session only that it ended is told: what it says was to be gone.
  const end = session.deletedAt === undefined ? endOf(outcome) : { outcome: outcome.kind };
  const late = { call: call.id, tool: call.tool, attempt, ...end, statusThen: call.status };
  return { draft: draft.journal("late-result", late), value: {} };
}
