import type { ConfirmationRequest, FunctionCall, Part, ToolConfirmation } from "../../content.ts";
import { CountersignError } from "../../countersign-error.ts";
import type { ConfirmationAsk, Event, StoredEvent } from "../../event.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json.ts";
import { originalCallFrom } from "../../original-call.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../reserved-names.ts";
import { callOf, toolConfirmationOf, toWireEvent } from "../event-envelope.ts";
import { encodeAdkAnswer } from "./answer.ts";

/**
 * The event on Google's wire. Each question is a call to `adk_request_confirmation` under the confirmation's
 * id, listed in `longRunningToolIds`; each closing is the user's response under the same id.
 * `skipSummarization` is set when there are questions and no tool asked one itself.
 */
export function encodeAdkEvent(stored: StoredEvent): Event {
  const asks = stored.asks ?? [];
  return toWireEvent(stored, {
    parts: [...asks.map(encodeAsk), ...(stored.closings ?? []).map(encodeAdkAnswer)],
    longRunningToolIds: asks.map((ask) => ask.id),
    skipSummarization: asks.length > 0 && !asks.some((ask) => ask.askedByTool),
  });
}

/** The arguments of the request call for this question. */
export function requestOf(ask: ConfirmationAsk): ConfirmationRequest {
  return { originalFunctionCall: callOf(ask), toolConfirmation: toolConfirmationOf(ask) };
}

function encodeAsk(ask: ConfirmationAsk): Part {
  const { originalFunctionCall, toolConfirmation } = requestOf(ask);
  const args = {
    originalFunctionCall: { ...originalFunctionCall },
    toolConfirmation: { ...toolConfirmation },
  };
  return { functionCall: { id: ask.id, name: REQUEST_CONFIRMATION_FUNCTION_NAME, args } };
}

/**
 * The questions in an event on Google's wire. An event by `user` asks nothing: a client cannot raise a
 * question. Throws `malformed-call` for a request without an id, or whose original call cannot be read or has
 * no id. `askedByTool` is told for the event as a whole there, so all its questions share it.
 */
export function decodeAdkRequest(event: Event): readonly ConfirmationAsk[] {
  if (event.author === "user") return [];
  const askedByTool = event.actions.skipSummarization !== true;
  const calls = (event.content?.parts ?? []).map((part) => part.functionCall);
  return calls
    .filter((call) => call?.name === REQUEST_CONFIRMATION_FUNCTION_NAME)
    .filter((call) => call !== undefined)
    .map((request) => ({ ...decodeAsk(request), ...(askedByTool && { askedByTool }) }));
}

function decodeAsk(request: FunctionCall): ConfirmationAsk {
  const { id: callId, ...original } = originalCallFrom(request);
  if (request.id === undefined || callId === undefined) {
    throw new CountersignError("malformed-call", `The request call ${request.id ?? "(no id)"} lacks an id.`);
  }
  const { hint = "", payload } = readToolConfirmation(request.args);
  return {
    id: request.id,
    call: { ...original, id: callId },
    hint,
    ...(payload !== undefined && { payload }),
  };
}

/** Hint and payload of a request's `toolConfirmation`, in either spelling; what is missing is left out. */
export function readToolConfirmation(request: JsonObject): Pick<ToolConfirmation, "hint" | "payload"> {
  const value = member(request, "toolConfirmation") ?? member(request, "tool_confirmation");
  const confirmation: JsonObject = isJsonObject(value) ? value : {};
  const hint: JsonValue | undefined = member(confirmation, "hint");
  const payload: JsonValue | undefined = member(confirmation, "payload");
  return {
    ...(typeof hint === "string" && { hint }),
    ...(payload !== undefined && payload !== null && { payload }),
  };
}
