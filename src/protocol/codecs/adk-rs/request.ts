import type { FunctionResponse, Part } from "../../content.ts";
import { CountersignError } from "../../countersign-error.ts";
import type { ConfirmationAsk, Event, StoredEvent } from "../../event.ts";
import { originalCallFrom } from "../../original-call.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../reserved-names.ts";
import { encodeAdkAnswer } from "../adk/answer.ts";
import { readToolConfirmation, requestOf } from "../adk/request.ts";
import { toWireEvent } from "../event-envelope.ts";

/**
 * The event on adk-rs's wire. Each question is an unfinished response (`willContinue`) of
 * `adk_request_confirmation` under the ORIGINAL call's id, which also stands in `longRunningToolIds`; its
 * closing is the user's response under that id. The confirmation's own id does not appear.
 */
export function encodeAdkRsEvent(stored: StoredEvent): Event {
  const asks = stored.asks ?? [];
  const closings = stored.closings ?? [];
  return toWireEvent(stored, {
    parts: [
      ...asks.map(encodeAsk),
      ...closings.map((closing) => encodeAdkAnswer({ ...closing, id: closing.callId })),
    ],
    longRunningToolIds: asks.map((ask) => ask.call.id),
  });
}

function encodeAsk(ask: ConfirmationAsk): Part {
  const { originalFunctionCall, toolConfirmation } = requestOf(ask);
  return {
    functionResponse: {
      id: ask.call.id,
      name: REQUEST_CONFIRMATION_FUNCTION_NAME,
      willContinue: true,
      response: {
        originalFunctionCall: { ...originalFunctionCall },
        toolConfirmation: { ...toolConfirmation },
      },
    },
  };
}

/**
 * The questions in an event on adk-rs's wire; each has the original call's id for its own. An event by `user`
 * asks nothing. Throws `malformed-call` when the original call cannot be read or its id is not the response's.
 */
export function decodeAdkRsRequest(event: Event): readonly ConfirmationAsk[] {
  if (event.author === "user") return [];
  const responses = (event.content?.parts ?? []).map((part) => part.functionResponse);
  return responses
    .filter((response) => response !== undefined)
    .filter(isRequest)
    .map(decodeAsk);
}

function isRequest(response: FunctionResponse): boolean {
  return response.name === REQUEST_CONFIRMATION_FUNCTION_NAME && response.willContinue === true;
}

function decodeAsk(request: FunctionResponse): ConfirmationAsk {
  const { id, ...original } = originalCallFrom({ ...request, args: request.response });
  if (id === undefined || id !== request.id) {
    const message = `The request ${request.id ?? "(no id)"} is about a call with another id, ${id ?? "(no id)"}.`;
    throw new CountersignError("malformed-call", message);
  }
  const { hint = "", payload } = readToolConfirmation(request.response);
  return { id, call: { ...original, id }, hint, ...(payload !== undefined && { payload }) };
}
