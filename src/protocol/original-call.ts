import { parseFunctionCall } from "./codecs/adk/content.ts";
import type { FunctionCall } from "./content.ts";
import { CountersignError } from "./countersign-error.ts";
import { member } from "./json.ts";

/**
 * The call that a confirmation request is about: the `originalFunctionCall` argument of an
 * `adk_request_confirmation` call, in either spelling. Throws `malformed-call`, naming the request's id, when
 * it is missing, given twice, or is not a call.
 */
export function originalCallFrom(call: FunctionCall): FunctionCall {
  const camel = member(call.args, "originalFunctionCall");
  const snake = member(call.args, "original_function_call");
  if (camel !== undefined && snake !== undefined) throw malformed(call, "names its original call twice");
  const original = camel ?? snake;
  if (original === undefined) throw malformed(call, "has no `originalFunctionCall`");
  const outcome = parseFunctionCall(original, "originalFunctionCall");
  if (!outcome.ok)
    throw malformed(call, `has no readable original call: ${outcome.message.replace(/\.$/, "")}`);
  return outcome.value;
}

function malformed(call: FunctionCall, complaint: string): CountersignError {
  const id = call.id ?? "(no id)";
  return new CountersignError("malformed-call", `The request call ${id} ${complaint}.`, { details: { id } });
}
