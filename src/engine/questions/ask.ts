import type { ConfirmationAsk, JsonObject } from "../../protocol/index.ts";
import { confirmationId, redact } from "../common/index.ts";
import type { RuleEscalation } from "../gate/index.ts";
import type { BodyOf } from "../journal/index.ts";
import {
  type CallRecord,
  type ConfirmationRecord,
  type Draft,
  type FrameRecord,
  type GrantLimits,
  isShared,
  type PolicyNote,
  type SessionRecord,
  type Shown,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Requirement } from "../people/index.ts";
import { subjectOf } from "./close-question.ts";
import { questionMac } from "./decision-mac.ts";

/** A question about a call, before it has an id and a time. */
export interface Question {
  readonly shown: Shown;
  readonly requirements: readonly Requirement[];
  readonly requesters: readonly string[];
  /** How many denials are needed to deny; 1 if absent. */
  readonly denials?: number;
  readonly expiresInMs?: number;
  readonly remindAfterMs?: readonly number[];
  readonly escalate?: readonly QuestionEscalation[];
  /** Which rules applied. */
  readonly policy?: readonly PolicyNote[];
  /** The most that an approval may grant for further calls; absent if nothing. */
  readonly grants?: GrantLimits;
  /** With `grants`: the rules and gates that ask. */
  readonly askedBy?: readonly string[];
  /** A link in a mail may decide it without a login. */
  readonly byMail?: true;
  /** The channels that are told of it; all if absent. */
  readonly notify?: readonly string[];
}

/** People who may fill in after a time, and for which requirements of the question, by their index. */
export interface QuestionEscalation extends RuleEscalation {
  readonly fills: readonly number[];
}

/** The same question for a session of one call: only a grant across sessions is for further calls. */
export function forOneCall(asked: Question): Question {
  if (isShared(asked.grants)) return asked;
  const { grants: _none, askedBy: _by, ...question } = asked;
  return question;
}

export interface AskedCall {
  readonly call: CallRecord;
  readonly confirmation: ConfirmationRecord;
  /** Which rules applied. The journal says it, and nothing else keeps it. */
  readonly policy?: readonly PolicyNote[] | undefined;
}

/** The default hint of a card. */
export function defaultHint(tool: string): string {
  return `Approve execution of tool ${tool}?`;
}

/** How a program has to answer; the ADK says it where an author says nothing else. */
const TO_PROGRAMS = /by responding with a FunctionResponse/i;

/** A hint as people read it: empty if it is meant for programs. */
export function hintForPeople(hint: string): string {
  return TO_PROGRAMS.test(hint) ? "" : hint;
}

/** Creates the confirmation with this question about the call. */
export function newConfirmation(
  parts: EngineParts,
  now: number,
  subject: {
    readonly session: Pick<SessionRecord, "app" | "user">;
    readonly call: CallRecord;
    readonly frame: FrameRecord | undefined;
    readonly question: Question;
  },
): ConfirmationRecord {
  const { session, call, frame, question } = subject;
  const traceparent = parts.trace.current?.();
  const confirmation = {
    id: confirmationId(call.session, parts.newId(now)),
    call: call.id,
    round: call.rounds,
    session: call.session,
    app: session.app,
    agent: call.agent,
    path: frame?.path ?? [call.agent],
    user: session.user,
    tool: call.tool,
    requesters: question.requesters,
    requirements: question.requirements,
    invocation: frame?.invocation ?? call.wireId,
    argsDigest: call.argsDigest,
    shown: question.shown,
    shownVersion: 1,
    status: "requested" as const,
    requestedAt: now,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(question.expiresInMs === undefined ? {} : { expiresAt: now + question.expiresInMs }),
    ...(question.denials === undefined ? {} : { denials: question.denials }),
    ...offersOf(question),
    ...(question.notify === undefined ? {} : { notify: question.notify }),
    ...plansOf(question, now),
    votes: [],
  };
  return signedQuestion(parts, confirmation);
}

/** What approvers may do beside deciding it with a login. */
function offersOf({
  grants,
  askedBy,
  byMail,
}: Question): Pick<ConfirmationRecord, "grants" | "askedBy" | "byMail"> {
  return {
    ...(grants === undefined ? {} : { grants }),
    ...(askedBy === undefined ? {} : { askedBy }),
    ...(byMail === undefined ? {} : { byMail }),
  };
}

/** Reminders and escalations by the ledger's clock. One that would come at the deadline or later never comes. */
function plansOf(
  { remindAfterMs = [], escalate = [], expiresInMs = Number.POSITIVE_INFINITY }: Question,
  now: number,
): Pick<ConfirmationRecord, "reminders" | "escalations"> {
  const reminders = [...new Set(remindAfterMs)]
    .filter((afterMs) => afterMs < expiresInMs)
    .sort((one, other) => one - other)
    .map((afterMs) => ({ at: now + afterMs, sent: false }));
  const escalations = eachOnce(escalate)
    .filter(({ afterMs }) => afterMs < expiresInMs)
    .toSorted((one, other) => one.afterMs - other.afterMs)
    .map(({ afterMs, ...people }) => ({ ...people, at: now + afterMs, reached: false }));
  return {
    ...(reminders.length === 0 ? {} : { reminders }),
    ...(escalations.length === 0 ? {} : { escalations }),
  };
}

/** The same people at the same time for several requirements are one escalation: they are told once. */
function eachOnce(escalate: readonly QuestionEscalation[]): readonly QuestionEscalation[] {
  const found = new Map<string, QuestionEscalation>();
  for (const one of escalate) {
    const { fills, ...step } = one;
    const key = JSON.stringify([step.afterMs, step.to, step.group ?? null]);
    found.set(key, { ...step, fills: [...new Set([...(found.get(key)?.fills ?? []), ...fills])] });
  }
  return [...found.values()];
}

/** The question as it is stored: signed if the engine has a secret. */
export function signedQuestion(
  { secret }: Pick<EngineParts, "secret">,
  confirmation: ConfirmationRecord,
): ConfirmationRecord {
  return secret === undefined ? confirmation : { ...confirmation, mac: questionMac(secret, confirmation) };
}

/** Writes the questions of one turn: a row and a journal record each, and one event for all. */
export function writeQuestions(
  draft: Draft,
  frame: FrameRecord | undefined,
  asked: readonly AskedCall[],
): void {
  if (asked.length === 0) return;
  const asks = asked.map((one) => {
    const { call, confirmation } = one;
    const args = redact(call.args, call.secrets);
    draft.insertConfirmation(confirmation);
    draft.journal("confirmation-requested", requestBody(one, args));
    return askOf(call, confirmation, args);
  });
  if (frame === undefined) return;
  draft.event({
    author: frame.agent,
    invocationId: frame.invocation,
    ...(frame.branch === undefined ? {} : { branch: frame.branch }),
    asks,
  });
}

function askOf(
  call: CallRecord,
  { id, shown, round }: ConfirmationRecord,
  args: JsonObject,
): ConfirmationAsk {
  return {
    id,
    call: { id: call.wireId, name: call.tool, args },
    hint: shown.hint,
    ...(shown.payload === undefined ? {} : { payload: shown.payload }),
    ...(shown.askedByTool === undefined ? {} : { askedByTool: shown.askedByTool }),
    ...(round === 0 ? {} : { later: true }),
  };
}

function requestBody(
  { call, confirmation, policy }: AskedCall,
  args: JsonObject,
): BodyOf<"confirmation-requested"> {
  return {
    ...subjectOf(confirmation, call),
    app: confirmation.app,
    agent: confirmation.agent,
    path: confirmation.path,
    user: confirmation.user,
    requesters: confirmation.requesters,
    args,
    hint: confirmation.shown.hint,
    why: confirmation.shown.why,
    requirements: confirmation.requirements,
    ...(confirmation.denials === undefined ? {} : { denials: confirmation.denials }),
    ...(confirmation.escalations === undefined ? {} : { escalations: confirmation.escalations }),
    definitionDigest: call.definitionDigest,
    ...(confirmation.expiresAt === undefined ? {} : { expiresAt: confirmation.expiresAt }),
    ...(policy === undefined ? {} : { policy }),
    ...(confirmation.grants === undefined ? {} : { grants: confirmation.grants }),
    ...(confirmation.byMail === undefined ? {} : { byMail: confirmation.byMail }),
    ...(confirmation.notify === undefined ? {} : { notify: confirmation.notify }),
  };
}
