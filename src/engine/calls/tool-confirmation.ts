import type { JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import { copyJson, type PayloadReading } from "../common/index.ts";
import type { LiveTool } from "../host.ts";
import type { CallRecord, ConfirmationRecord } from "../ledger/index.ts";

/**
 * The decision that a function gets: the last one, unless that answers a named question (the function gets it from
 * `ctx.confirm`). Then it is the decision that allowed the call to start.
 */
export function toolConfirmationOf(
  { refused }: Pick<CallRecord, "refused">,
  confirmation: ConfirmationRecord | undefined,
): ToolConfirmation | undefined {
  if (confirmation === undefined) return undefined;
  const { hint, question, startedWith } = confirmation.shown;
  if (question !== undefined) return startedWith;
  if (refused) return { hint, confirmed: false };
  const vote = confirmation.votes.at(-1);
  if (vote === undefined) return undefined;
  const { confirmed, payload } = vote;
  return { hint, confirmed, ...(payload === undefined ? {} : { payload: copyJson(payload) }) };
}

/** Does the decision answer a question of the tool itself, and not of the gate? */
export function answersTool(confirmation: ConfirmationRecord | undefined): boolean {
  if (confirmation === undefined) return false;
  const { question, askedByTool, startedByTool } = confirmation.shown;
  return question === undefined ? askedByTool === true : startedByTool === true;
}

/** The decision as the function gets it, or the answer to the model if the function cannot get it. */
export type ReadConfirmation =
  | { readonly ok: true; readonly shown: ToolConfirmation | undefined }
  | { readonly ok: false; readonly answer: JsonObject };

/**
 * Parses the payload with the tool's own schema. It can be refused here only if a process without the tool took the
 * decision, or if the schema has changed since.
 */
export function readConfirmation(
  tool: LiveTool,
  call: CallRecord,
  confirmation: ConfirmationRecord | undefined,
): ReadConfirmation | Promise<ReadConfirmation> {
  const shown = toolConfirmationOf(call, confirmation);
  if (shown?.payload === undefined || tool.readPayload === undefined || answersTool(confirmation))
    return { ok: true, shown };
  return withPayload(shown, tool.readPayload(shown.payload));
}

async function withPayload(
  shown: ToolConfirmation,
  reading: Promise<PayloadReading>,
): Promise<ReadConfirmation> {
  const read = await reading;
  // The tool's schema says what the value is; it need not be JSON.
  if (read.ok) return { ok: true, shown: { ...shown, payload: read.value as JsonValue } };
  const error = `the payload of the approval does not match the schema, so the tool did not run: ${read.field || "payload"}: ${read.message}`;
  return { ok: false, answer: { error, code: "payload-mismatch" } };
}
