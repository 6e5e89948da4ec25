import { type CallerOutcome, toldToModel } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { errorTextOf } from "../told.ts";
import type { ToolResult } from "./sdk.ts";

const ERASED = "The call ran. Its result is no longer stored.";

/** Has the call no outcome yet that a client could be told? */
export function isOpen({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "allowed" || status === "executing" || status === "unknown";
}

/** What the client is told: the tool's own result, or a text for the model. */
export function resultOf(
  outcome: CallerOutcome,
  { address }: { readonly address?: string } = {},
): ToolResult {
  if (isOpen(outcome)) return waitingResult(outcome, address);
  const { ok, answer } = toldToModel(outcome);
  if (!ok) return { content: [textPart(errorTextOf(answer))], isError: true };
  if (outcome.amended === undefined) return storedResult(answer);
  const { result = null, ...changed } = isJsonObject(answer) ? answer : {};
  const ran = storedResult(result);
  const content = member(ran, "content");
  return { ...ran, content: [...(isJsonArray(content) ? content : []), textPart(JSON.stringify(changed))] };
}

// An error, because there is no result: a client that expects structured content must not take this for one.
function waitingResult({ tool, status, message, confirmation }: CallerOutcome, address?: string): ToolResult {
  const where = address === undefined || status !== "pending" ? "" : ` A person can decide at ${address}.`;
  const text = `${message}${where} Call ${tool} again later with the same arguments to get the outcome of this call.`;
  return {
    content: [textPart(text)],
    isError: true,
    _meta: {
      "countersign/call": {
        status,
        ...(confirmation === undefined ? {} : { confirmation: confirmation.id }),
      },
    },
  };
}

function storedResult(result: JsonValue): ToolResult {
  if (isJsonObject(result) && Object.hasOwn(result, "content")) return result;
  const warning = isJsonObject(result) ? member(result, "warning") : undefined;
  if (typeof warning === "string") return { content: [textPart(warning)] };
  // What somebody has settled it with.
  return { content: [textPart(result === null ? ERASED : JSON.stringify(result))] };
}

/** The text of a result that reports a failure. */
export function failureIn(result: ToolResult): string {
  const content = member(result, "content");
  const texts = (isJsonArray(content) ? content : []).flatMap((part) => {
    const text = isJsonObject(part) ? member(part, "text") : undefined;
    return typeof text === "string" ? [text] : [];
  });
  return texts.join("\n") || "The tool reported a failure.";
}

function textPart(text: string): JsonObject {
  return { type: "text", text };
}
