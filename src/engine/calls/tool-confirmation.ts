import type { JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import { copyJson } from "../common/index.ts";
import type { LiveTool } from "../host.ts";
import type { CallRecord, ConfirmationRecord } from "../ledger/index.ts";

/**
 * The decision that a body is shown: the last one, unless that answers a named question, which gives it to
 * the body itself. What let the call start before such a question then still stands.
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

/** Is the decision that a body is shown an answer to a question of the tool's own, and not to the gate's? */
export function answersTool(confirmation: ConfirmationRecord | undefined): boolean {
  if (confirmation === undefined) return false;
  const { question, askedByTool, startedByTool } = confirmation.shown;
  return question === undefined ? askedByTool === true : startedByTool === true;
}

/** The decision as the body gets it, or what the model is told because the body cannot be given it. */
export type ReadConfirmation =
  | { readonly ok: true; readonly shown: ToolConfirmation | undefined }
  | { readonly ok: false; readonly answer: JsonObject };

/**
 * Reads the payload by the tool's own schema. It may be refused here only where the decision was taken by a process
 * without the tool, or the schema has changed since.
 */
export async function readConfirmation(
  tool: LiveTool,
  call: CallRecord,
  confirmation: ConfirmationRecord | undefined,
): Promise<ReadConfirmation> {
  const shown = toolConfirmationOf(call, confirmation);
  if (shown?.payload === undefined || tool.readPayload === undefined || answersTool(confirmation))
    return { ok: true, shown };
  const read = await tool.readPayload(shown.payload);
  // The tool's schema says what the value is; whether that is JSON matters to nobody but the tool.
  if (read.ok) return { ok: true, shown: { ...shown, payload: read.value as JsonValue } };
  const error = `the payload of the approval does not match the schema, so the tool did not run: ${read.field || "payload"}: ${read.message}`;
  return { ok: false, answer: { error, code: "payload-mismatch" } };
}
