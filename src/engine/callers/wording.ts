import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { cancelledAnswer, deniedAnswer, EXPIRED_ANSWER } from "../frames/index.ts";
import type { CallerOutcome } from "./caller-outcome.ts";

/** What a call did not do: one that asked while it ran had started. */
function undone(attempt: number): { readonly run: string; readonly ended: string } {
  if (attempt === 0) return { run: "run", ended: "run" };
  return { run: "finish; a part of it may have been done", ended: "finished" };
}

/** What to say about a call, in one sentence or two. */
export function messageOf({
  status,
  attempt,
  error,
  reason,
}: Pick<CallerOutcome, "status" | "attempt" | "error" | "reason">): string {
  const why = reason === undefined ? "." : `: ${reason}`;
  const { run, ended } = undone(attempt);
  switch (status) {
    case "pending":
      return `The call waits for a person's approval. It has not ${ended}.`;
    case "allowed":
      return "The call may run. Claim it first.";
    case "executing":
      return "The call is running.";
    case "succeeded":
      return "The call succeeded.";
    case "failed":
      return `The call failed: ${error ?? "no reason given"}`;
    case "unknown":
      return "The call started, and its outcome is unknown. A person must settle it. Do not run it again.";
    case "denied":
      return `The call was denied and did not ${run}${why}`;
    case "expired":
      return `Nobody decided in time. The call did not ${run}.`;
    case "cancelled":
      return `The call was withdrawn and did not ${run}${why}`;
  }
}

/** What a model is told in place of a tool's result, the same through every adapter. `ok`: the tool ran and succeeded. */
export interface ToldToModel {
  readonly ok: boolean;
  readonly answer: JsonValue;
}

const AMENDED =
  "An approver changed the arguments before the call ran. It ran with the arguments in `ranWith`.";

/** The answer to the model: the result, with the arguments that ran if an approver changed them, or why there is none. */
export function toldToModel(outcome: CallerOutcome): ToldToModel {
  const { status, args, attempt, amended, result = null, error, reason, message } = outcome;
  switch (status) {
    case "succeeded":
      return { ok: true, answer: amended === undefined ? result : { result, note: AMENDED, ranWith: args } };
    case "failed":
      return failed({
        error: error ?? message,
        ...(amended === undefined ? {} : { note: AMENDED, ranWith: args }),
      });
    case "denied":
      return failed(deniedAnswer(reason));
    case "expired":
      return failed(EXPIRED_ANSWER);
    case "cancelled":
      return failed(cancelledAnswer(reason ?? "no reason given", { attempt }));
    default:
      return failed({ error: message, status });
  }
}

function failed(answer: JsonObject): ToldToModel {
  return { ok: false, answer };
}
