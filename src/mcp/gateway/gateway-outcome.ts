import type { GateOutcome } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, member } from "../../protocol/index.ts";

type Outcome = GateOutcome<JsonObject>;

/** Is the outcome final, so that the same arguments are then a new call? */
export function isFinal({ status }: Outcome): boolean {
  return status !== "pending" && status !== "executing" && status !== "unknown";
}

// The result was erased before it was delivered; it is still known that the call ran.
const ERASED: JsonObject = {
  content: [{ type: "text", text: "the call ran; its result was erased" }],
};

/** The client's result: the server's own, or an error text for the model. */
export function outcomeResult(outcome: Outcome): JsonObject {
  switch (outcome.status) {
    case "succeeded":
      return isJsonObject(outcome.result) ? keptOf(outcome.result) : ERASED;
    case "failed":
      return failure(outcome.error);
    case "denied": {
      const denied = outcome.byPolicy === true ? "denied by policy" : "rejected by the user";
      return failure(`tool call was ${denied}${because(outcome.reason)}`);
    }
    case "expired":
      return failure("tool call expired before it was approved");
    case "cancelled":
      return failure(`tool call was withdrawn${because(outcome.reason)}`);
    default:
      return failure("the call started, but its outcome is unknown; a person must settle it");
  }
}

// The engine's warning that a result could not be stored is not a tool result, which always has content.
function keptOf(result: JsonObject): JsonObject {
  const warning = member(result, "warning");
  if (typeof warning !== "string" || Object.hasOwn(result, "content")) return result;
  return { content: [{ type: "text", text: warning }] };
}

export function failure(text: string): JsonObject {
  return { isError: true, content: [{ type: "text", text }] };
}

/** The error for a name that could mean several tools. */
export function ambiguous(tool: string): string {
  return `the server has more than one tool that matches "${tool}"`;
}

/** The text of a result that reports a failure of the tool. */
export function failureIn(result: JsonObject): string {
  const content = member(result, "content");
  const parts = isJsonArray(content) ? content : [];
  const texts = parts.flatMap((part) => {
    const text = isJsonObject(part) ? member(part, "text") : undefined;
    return typeof text === "string" ? [text] : [];
  });
  return texts.join("\n") || "the tool reported a failure";
}

function because(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${reason}`;
}
