import type { Message, Part } from "@a2a-js/sdk";
import { type CallRecord, type ConfirmationWithCall, describeProgress, redact } from "../../engine/index.ts";
import {
  type AskUserRequest,
  type ConfirmationAsk,
  encodeAskUserRequest,
  encodeDataPart,
  encodeToolApprovalRequest,
  isJsonObject,
  type JsonObject,
  member,
  type NestedPause,
  toHitlEnvelope,
} from "../../protocol/index.ts";
import { ASK_USER, askedQuestions } from "../../runtime/index.ts";
import { dataPart, type MessagePlace, textPart, toMessage } from "./messages.ts";

/**
 * What a client that opted in to the extension is asked next. Approvals come together and first; questions to the user
 * come one by one, since the extension asks for one at a time.
 */
export type Pause =
  | {
      readonly kind: "approvals";
      readonly asks: readonly ConfirmationAsk[];
      /** The remote task that asks all of this, where one does. */
      readonly nested?: Omit<NestedPause, "asks">;
    }
  | { readonly kind: "questions"; readonly asked: AskUserRequest };

/** A question as messages tell of it, without declared secrets. */
export function askOf({ confirmation, call }: ConfirmationWithCall): ConfirmationAsk {
  const { hint, payload, askedByTool } = confirmation.shown;
  return {
    id: confirmation.id,
    call: { id: call.wireId, name: call.tool, args: redact(call.args, call.secrets) },
    hint,
    ...(payload === undefined ? {} : { payload }),
    ...(askedByTool === undefined ? {} : { askedByTool }),
    ...(confirmation.round === 0 ? {} : { later: true }),
  };
}

/** Is this a question to the user, and not a call to approve? */
export function isQuestion({ call, askedByTool }: ConfirmationAsk): boolean {
  return call.name === ASK_USER && askedByTool === true;
}

/** The pauses of these questions, in order. */
export function pausesOf(asks: readonly ConfirmationAsk[]): readonly Pause[] {
  const approvals = asks.filter((ask) => !isQuestion(ask));
  const questions = asks
    .filter(isQuestion)
    .map(
      ({ id, call }) => ({ kind: "questions", asked: { id, questions: askedQuestions(call.args) } }) as const,
    );
  return approvals.length === 0 ? questions : [{ kind: "approvals", asks: approvals }, ...questions];
}

/** The current request for a client that uses the extension; marked if all of it belongs to one remote task. */
export function pauseNow(open: readonly ConfirmationWithCall[]): Pause | undefined {
  const [pause] = pausesOf(open.map(askOf));
  if (pause?.kind !== "approvals") return pause;
  const ids = new Set(pause.asks.map(({ id }) => id));
  const [first, ...others] = open
    .filter(({ confirmation }) => ids.has(confirmation.id))
    .map(({ confirmation }) => confirmation.shown.remote);
  if (first === undefined || others.some((other) => other?.task !== first.task)) return pause;
  const { agent: subagentName, task: taskId, context: contextId } = first;
  return { ...pause, nested: { subagentName, taskId, contextId } };
}

// The ids are ours in both lists: they are what is answered here, and a client that reads only one of them answers the same.
function toPayload(pause: Pause): JsonObject {
  if (pause.kind === "questions") return encodeAskUserRequest(pause.asked);
  const { asks, nested } = pause;
  if (nested === undefined) return encodeToolApprovalRequest({ asks });
  const hint = `Remote agent ${nested.subagentName ?? ""} requires approval for tool(s): ${namesOf(asks)}`;
  return encodeToolApprovalRequest({ asks, hint, nested: { ...nested, asks } });
}

/** A pause for a client that uses the extension: the payload, and a text for people. */
export function hitlRequest(
  place: MessagePlace,
  pause: Pause,
  open: readonly ConfirmationWithCall[] = [],
): Message {
  const ids = pause.kind === "approvals" ? pause.asks.map(({ id }) => id) : [pause.asked.id];
  const text = pause.kind === "approvals" ? approvalText(pause.asks, open) : QUESTIONS_TEXT;
  return toMessage(place, {
    id: requestId(ids),
    role: "agent",
    parts: [textPart(text)],
    ...toHitlEnvelope(toPayload(pause)),
  });
}

/** All open questions for a client without the extension: in the older form, one part each. */
export function dataPartRequest(
  place: MessagePlace,
  asks: readonly ConfirmationAsk[],
  open: readonly ConfirmationWithCall[] = [],
): Message {
  const text = asks.every(isQuestion) ? QUESTIONS_TEXT : approvalText(asks, open);
  const parts = asks.map((ask): Part => {
    const { data, metadata } = encodeDataPart(ask);
    return dataPart(data, metadata);
  });
  return toMessage(place, {
    id: requestId(asks.map(({ id }) => id)),
    role: "agent",
    parts: [textPart(text), ...parts],
  });
}

const QUESTIONS_TEXT = "The agent has questions";

function approvalText(asks: readonly ConfirmationAsk[], open: readonly ConfirmationWithCall[]): string {
  const voted = open.filter(({ confirmation }) => confirmation.votes.length > 0);
  const progress = voted.map(
    ({ call, confirmation }) => `\n${call.tool} has ${describeProgress(confirmation)}`,
  );
  return `Approval needed: ${namesOf(asks)}${progress.join("")}`;
}

function namesOf(asks: readonly ConfirmationAsk[]): string {
  return asks.map(({ call }) => call.name).join(", ");
}

// Another set of questions is another message; the same set, asked for again, is the same one.
function requestId(ids: readonly string[]): string {
  return `ask-${ids.join("+")}`;
}

/** The text for a task that waits for a person to settle a call. This is not possible over A2A. */
export function unknownNotice(place: MessagePlace, calls: readonly CallRecord[]): Message {
  const named = calls.map(({ tool, wireId }) => `${tool} (${wireId})`).join(", ");
  return toMessage(place, {
    id: `settle-${calls.map(({ wireId }) => wireId).join("+")}`,
    role: "agent",
    parts: [
      textPart(
        `The outcome of ${named} is unknown. A person must settle it in the server's inbox; the task waits until then.`,
      ),
    ],
    metadata: { [SETTLE]: true },
  });
}

const SETTLE = "countersign_settle";

/** Does a remote agent say that a person must settle something there? */
export function isSettleNotice({ metadata }: Message): boolean {
  return isJsonObject(metadata) && member(metadata, SETTLE) === true;
}
