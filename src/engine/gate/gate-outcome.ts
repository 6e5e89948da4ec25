import { isJsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { CallRecord, ConfirmationRecord, Snapshot } from "../ledger/index.ts";
import { isAnswered } from "../lifecycle/index.ts";
import type { Principal } from "../people/index.ts";
import { type Confirmation, decidingVote, toConfirmation } from "../questions/index.ts";

/** The outcome of one call of a gated function. */
export type GateOutcome<Result> =
  /** `callId` is what `engine.finished` waits for. */
  | { readonly status: "pending"; readonly confirmation: Confirmation; readonly callId: string }
  /** Approved; it runs, or is about to, here or in another process. */
  | { readonly status: "executing"; readonly callId: string }
  | { readonly status: "succeeded"; readonly result: Result }
  | { readonly status: "failed"; readonly error: string }
  /** By a person, or by a policy. */
  | { readonly status: "denied"; readonly reason?: string; readonly byPolicy?: true }
  | { readonly status: "expired" }
  | { readonly status: "cancelled"; readonly reason: string }
  /** It started, and its outcome is unknown: a person must settle it. */
  | { readonly status: "unknown"; readonly callId: string };

/** Reads the outcome from the ledger, so that every process returns the same one. */
export function outcomeOf<Result extends JsonValue | undefined>(
  snapshot: Snapshot | undefined,
  viewer: Principal,
): GateOutcome<Result> {
  const { call, confirmation, session } = snapshot ?? {};
  if (call === undefined || session === undefined)
    return { status: "cancelled", reason: "the call was erased" };
  if (isAnswered(call.status)) return answeredOutcome(call, confirmation);
  if (call.status === "unknown") return { status: "unknown", callId: call.id };
  const waits = call.status === "waiting" || call.status === "suspended";
  return waits && confirmation !== undefined
    ? {
        status: "pending",
        confirmation: toConfirmation({ confirmation, call, session }, viewer),
        callId: call.id,
      }
    : { status: "executing", callId: call.id };
}

function answeredOutcome<Result>(
  call: CallRecord,
  confirmation: ConfirmationRecord | undefined,
): GateOutcome<Result> {
  switch (call.status) {
    case "succeeded":
      // The cast is safe: this is what the function returned, as JSON.
      return { status: "succeeded", result: call.result as Result };
    case "denied": {
      const byPolicy = confirmation === undefined;
      const reason = byPolicy ? textOf(call.result, "reason") : decidingVote(confirmation)?.reason;
      return {
        status: "denied",
        ...(reason === undefined ? {} : { reason }),
        ...(byPolicy ? { byPolicy } : {}),
      };
    }
    case "expired":
      return { status: "expired" };
    case "cancelled":
      return { status: "cancelled", reason: textOf(call.result, "reason") ?? "it was withdrawn" };
    default:
      return { status: "failed", error: textOf(call.result, "error") ?? "the function failed" };
  }
}

function textOf(value: JsonValue | undefined, key: string): string | undefined {
  const found = isJsonObject(value) ? member(value, key) : undefined;
  return typeof found === "string" ? found : undefined;
}
