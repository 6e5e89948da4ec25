import type { FunctionResponse, Part } from "../../content.ts";
import { CountersignError } from "../../countersign-error.ts";
import type { ConfirmationAsk, Event, StoredEvent } from "../../event.ts";
import { originalCallFrom } from "../../original-call.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../reserved-names.ts";
import { encodeAdkAnswer } from "../adk/answer.ts";
import { readToolConfirmation, requestOf } from "../adk/request.ts";
import { toWireEvent } from "../event-envelope.ts";

/**
 * The event on adk-rs's wire. A call's first question is an unfinished response (`willContinue`) of
 * `adk_request_confirmation` under the ORIGINAL call's id, which is also in `longRunningToolIds`; its
 * closing is the user's response under that id. Later questions of the call have the confirmation's own id in all
 * three places, so that an answer to the first one, sent again, cannot be taken for theirs.
 */
export function encodeAdkRsEvent(stored: StoredEvent): Event {
  const asks = stored.asks ?? [];
  const closings = stored.closings ?? [];
  return toWireEvent(stored, {
    parts: [
      ...asks.map(encodeAsk),
      ...closings.map((closing) => encodeAdkAnswer({ ...closing, id: wireIdOf(closing, closing.callId) })),
    ],
    longRunningToolIds: asks.map((ask) => wireIdOf(ask, ask.call.id)),
  });
}

function wireIdOf({ id, later }: { readonly id: string; readonly later?: true }, callId: string): string {
  return later === true ? id : callId;
}

function encodeAsk(ask: ConfirmationAsk): Part {
  const { originalFunctionCall, toolConfirmation } = requestOf(ask);
  return {
    functionResponse: {
      id: wireIdOf(ask, ask.call.id),
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
 * The questions in an event on adk-rs's wire; a call's first has the original call's id for its own. An event by
 * `user` asks nothing. Throws `malformed-call` when the original call cannot be read, or an id is missing.
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
  const { id: callId, ...original } = originalCallFrom({ ...request, args: request.response });
  const { id } = request;
  if (id === undefined || callId === undefined) {
    throw new CountersignError("malformed-call", `The request ${id ?? "(no id)"} or its call lacks an id.`);
  }
  const { hint = "", payload } = readToolConfirmation(request.response);
  return {
    id,
    call: { ...original, id: callId },
    hint,
    ...(payload !== undefined && { payload }),
    ...(id !== callId && { later: true }),
  };
}
