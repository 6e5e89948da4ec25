import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { fittingResponse, redact } from "../common/index.ts";
import { hostOf } from "../host.ts";
import {
  type CallRecord,
  type CallStatus,
  type ConfirmationRecord,
  type Conflict,
  type Draft,
  type FrameRecord,
  leavesToOthers,
  type SettlementRecord,
  stateWrites,
  withoutTemporary,
} from "../ledger/index.ts";
import type { CallCommand } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";

/** What the model is told about a call that a person denied. */
export function deniedAnswer(reason?: string): JsonObject {
  return { error: "tool call was rejected by the user", ...(reason === undefined ? {} : { reason }) };
}

/** What the model is told about a call that nobody decided in time. */
export const EXPIRED_ANSWER: JsonObject = { error: "tool call expired before it was approved" };

/** What the model is told about a withdrawn call: one that asked while it ran had started, and may have done a part. */
export function cancelledAnswer(reason: string, { attempt }: Pick<CallRecord, "attempt">): JsonObject {
  const when = attempt === 0 ? "before it ran" : "before it finished; a part of it may have been done";
  return { error: `tool call was withdrawn ${when}`, reason };
}

const FULL = "the session is full; start a new one";
/** What a full session stores of a call: how it ended, without the result. The call's own row has the result. */
const SHORT: { readonly [status in CallStatus]?: JsonObject } = {
  succeeded: { warning: `the tool ran; its result is stored with the call: ${FULL}` },
  failed: { error: `the tool failed; the error is stored with the call: ${FULL}` },
  denied: deniedAnswer(),
  expired: EXPIRED_ANSWER,
  cancelled: { error: "tool call was withdrawn" },
};

/** The command for the answer of a refused call: an expiry is not a denial by a person. */
export function wordingOf(confirmation: ConfirmationRecord | undefined): CallCommand {
  return confirmation?.status === "expired" ? "word-expiry" : "word-denial";
}

export interface AnswerInput {
  readonly call: CallRecord;
  readonly frame: FrameRecord | undefined;
  readonly command: CallCommand;
  readonly result: JsonValue;
  /** What the function set besides its result. */
  readonly stateDelta?: JsonObject;
  /** If a person said what the result is. */
  readonly settled?: SettlementRecord;
  readonly cursor?: JsonObject;
  /** Claim the frame's next step under this owner, if this was its last open call. */
  readonly owner: string | undefined;
  readonly last: Conflict | undefined;
}

export interface Answered {
  readonly call: CallRecord;
  /** Claimed here for its next model step. */
  readonly stepping?: FrameRecord;
}

/** Writes a call's final answer: its row, its event, and its turn's count. */
export function writeAnswer(parts: EngineParts, draft: Draft, input: AnswerInput): Answered {
  const call = writeResult(parts, draft, input);
  const { frame, cursor } = input;
  if (frame === undefined) return { call };
  const progress = { frame, owner: input.owner, last: input.last };
  const stepping = writeProgress(parts, draft, cursor === undefined ? progress : { ...progress, cursor });
  return stepping === undefined ? { call } : { call, stepping };
}

/** Writes the call's row and its event, without the turn's count. */
export function writeResult(
  parts: EngineParts,
  draft: Draft,
  input: Pick<AnswerInput, "call" | "frame" | "command" | "result" | "stateDelta" | "settled">,
): CallRecord {
  const { call, frame, result, stateDelta, settled } = input;
  const answered = draft.moveCall(call, input.command, {
    result,
    endedAt: draft.now,
    owner: null,
    ...(settled === undefined ? {} : { settled }),
  });
  for (const write of stateWrites(stateDelta)) draft.write(write);
  if (frame === undefined) return answered;
  const response = fittingResponse(parts, draft, {
    response: responseOf(call, result),
    short: SHORT[answered.status] ?? { error: `the call is ${answered.status}` },
  });
  draft.event({
    author: call.agent,
    invocationId: frame.invocation,
    ...(frame.branch === undefined ? {} : { branch: frame.branch }),
    content: {
      role: "user",
      parts: [{ functionResponse: { id: call.wireId, name: call.tool, response } }],
    },
    ...(stateDelta === undefined || Object.keys(stateDelta).length === 0
      ? {}
      : { actions: { stateDelta: withoutTemporary(stateDelta) } }),
  });
  return answered;
}

export interface Progress {
  readonly frame: FrameRecord;
  /** How many calls were answered; default 1. */
  readonly answered?: number;
  /** Merged into the frame's cursor. */
  readonly cursor?: JsonObject;
  readonly owner: string | undefined;
  readonly last: Conflict | undefined;
}

/**
 * Reduces the number of open calls of the turn. After the last one, the frame goes to its next step if this process can
 * take it; if not, or if another step of the session runs, it becomes ready.
 */
export function writeProgress(parts: EngineParts, draft: Draft, progress: Progress): FrameRecord | undefined {
  const { frame, owner } = progress;
  const rest = { open: frame.open - (progress.answered ?? 1), ...mergedCursor(frame, progress.cursor) };
  // A frame that was cancelled meanwhile keeps its count and does not continue.
  if (rest.open > 0 || frame.status !== "waiting") {
    draft.changeFrame(frame, rest);
    return undefined;
  }
  const stepHere =
    owner !== undefined && !leavesToOthers(progress.last) && hostOf(parts.hosts, frame)?.step !== undefined;
  if (!stepHere) {
    draft.moveFrame(frame, "complete", rest);
    return undefined;
  }
  const update = { ...rest, owner, exclusive: true };
  return draft.willStep(draft.claimedBy(owner).moveFrame(frame, ["complete", "step"], update));
}

function mergedCursor(frame: FrameRecord, patch: JsonObject | undefined): { readonly cursor?: JsonObject } {
  if (patch === undefined) return {};
  return { cursor: { ...(isJsonObject(frame.cursor) ? frame.cursor : {}), ...patch } };
}

/** The wire format needs an object; any other value goes into its `result`. */
export function toResponse(result: JsonValue): JsonObject {
  return isJsonObject(result) ? result : { result };
}

/** The result as the model gets it; with the arguments that ran, if a person changed them. */
function responseOf({ args, originalArgs, secrets }: CallRecord, result: JsonValue): JsonObject {
  const response = toResponse(result);
  return originalArgs === undefined ? response : { ...response, amendedArguments: redact(args, secrets) };
}
