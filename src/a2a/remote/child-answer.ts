import type { Part } from "@a2a-js/sdk";
import { decidingVote, type Vote } from "../../engine/index.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  REQUEST_CONFIRMATION_FUNCTION_NAME,
  toHitlEnvelope,
} from "../../protocol/index.ts";
import { askedQuestions, type ForeignCall, readAnswers } from "../../runtime/index.ts";
import { dataPart, type MessageDraft, textPart } from "../messages/index.ts";
import { type Asking, type ChildAsk, type PauseForm, pauseDigest } from "./child-task.ts";

/** A decision on one of the remote agent's calls, with the remote ids. */
type ChildDecision = Readonly<{
  id: string;
  callId: string;
  approved: boolean;
  /** The call here that was approved. */
  call?: string;
  reason?: string;
  /** To questions: one list each. */
  answers?: readonly (readonly string[])[];
}>;

/** All decisions of a pause, as the arguments of the call that sends them. */
export function answerArgs(pause: Asking, calls: readonly ForeignCall[]): JsonObject {
  const { form, asks } = pause;
  const decisions = asks.map((ask, index) => decisionOn(ask, form, calls[index]));
  return { form, pause: pauseDigest(pause), decisions };
}

/** The same for a pause that was decided on the remote server: nothing is sent. */
export function followArgs(calls: readonly ForeignCall[]): JsonObject {
  const approved = calls.filter((decided) => approvalOf(decided) !== undefined);
  return { decisions: [], unsent: approved.map(({ call }) => call.id) };
}

/** The local calls of these decisions, sent or not. */
export function approvedCalls(args: JsonObject): readonly string[] {
  const unsent = member(args, "unsent");
  if (isJsonArray(unsent)) return unsent.map(String);
  return decisionsIn(args).flatMap(({ call }) => call ?? []);
}

function decisionsIn(args: JsonObject): readonly ChildDecision[] {
  const list = member(args, "decisions");
  // Written only by `answerArgs`.
  return (isJsonArray(list) ? list : []) as unknown as readonly ChildDecision[];
}

function decisionOn({ id, callId, args }: ChildAsk, form: PauseForm, decided?: ForeignCall): ChildDecision {
  const vote = approvalOf(decided);
  const approved = vote !== undefined;
  const here = approved && decided !== undefined ? { call: decided.call.id } : {};
  if (form === "questions") {
    // The extension has no refusal of questions: to decline means to answer none of them.
    return { id, callId, approved, ...here, answers: readAnswers(askedQuestions(args), vote?.payload) };
  }
  const reason = approved ? undefined : reasonOf(decided);
  return { id, callId, approved, ...here, ...(reason === undefined ? {} : { reason }) };
}

/** Only a recorded approval of exactly this call counts; anything else is a denial. */
function approvalOf({ call, confirmation }: Partial<ForeignCall> = {}): Vote | undefined {
  if (call?.status !== "succeeded" || confirmation?.status !== "approved") return undefined;
  const vote = confirmation.votes.at(-1);
  return vote?.confirmed === true ? vote : undefined;
}

function reasonOf({ call, confirmation }: Partial<ForeignCall> = {}): string | undefined {
  const vote = confirmation === undefined ? undefined : decidingVote(confirmation);
  return vote?.reason ?? confirmation?.withdrawal ?? errorIn(call?.result);
}

function errorIn(result: JsonValue | undefined): string | undefined {
  const error = isJsonObject(result) ? member(result, "error") : undefined;
  return typeof error === "string" ? error : undefined;
}

/** The message with the decisions: every id of the pause exactly once. */
export function answerDraft(id: string, args: JsonObject): MessageDraft {
  const decisions = decisionsIn(args);
  const text = decisions.map(({ approved }) => (approved ? "Approved" : "Rejected")).join(", ");
  const base = { id, role: "user" as const };
  switch (member(args, "form")) {
    case "adk":
      // To an ADK agent, text beside an answer is what the user says next.
      return { ...base, parts: decisions.map(adkPart) };
    case "kagent":
      return { ...base, parts: [textPart(text), dataPart(batchOf(decisions))] };
    default:
      return { ...base, parts: [textPart(text)], ...toHitlEnvelope(payloadOf(decisions)) };
  }
}

function payloadOf(decisions: readonly ChildDecision[]): JsonObject {
  const [first] = decisions;
  if (first?.answers !== undefined) {
    const answers = first.answers.map((answer) => ({ answer: [...answer] }));
    return { type: "ask_user_response", id: first.id, answers };
  }
  return {
    type: "tool_approval_response",
    approvals: decisions.map(({ id, approved, reason }) => ({
      id,
      approved,
      ...(approved || reason === undefined ? {} : { rejection_reason: reason }),
    })),
  };
}

function adkPart({ id, approved, reason }: ChildDecision): Part {
  const response = {
    confirmed: approved,
    ...(reason === undefined ? {} : { payload: { rejection_reason: reason } }),
  };
  return dataPart(
    { name: REQUEST_CONFIRMATION_FUNCTION_NAME, id, response },
    { adk_type: "function_response" },
  );
}

function batchOf(decisions: readonly ChildDecision[]): JsonObject {
  const words = decisions.map(({ callId, approved }) => [callId, approved ? "approve" : "reject"] as const);
  const reasons = decisions.flatMap(({ callId, approved, reason }) =>
    approved || reason === undefined ? [] : [[callId, reason] as const],
  );
  return {
    decision_type: "batch",
    decisions: Object.fromEntries(words),
    ...(reasons.length === 0 ? {} : { rejection_reasons: Object.fromEntries(reasons) }),
  };
}
