import type { Part } from "../../content.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../reserved-names.ts";

/** An answer to encode: a decision, or a closing without a decision. `id` is the id that the wire format uses. */
export interface AdkAnswer {
  readonly id: string;
  readonly confirmed: boolean;
  readonly payload?: JsonValue;
  readonly reason?: string;
  readonly closedBy?: string;
}

/**
 * The part by which a question is answered on every ADK wire: a response of `adk_request_confirmation`, bare.
 * Beside Google's members it carries `reason` and `closedBy` where there are any.
 */
export function encodeAdkAnswer(answer: AdkAnswer): Part {
  const response: JsonObject = {
    confirmed: answer.confirmed,
    ...(answer.payload !== undefined && { payload: answer.payload }),
    ...(answer.reason !== undefined && { reason: answer.reason }),
    ...(answer.closedBy !== undefined && { closedBy: answer.closedBy }),
  };
  return { functionResponse: { id: answer.id, name: REQUEST_CONFIRMATION_FUNCTION_NAME, response } };
}
