import { isJsonObject, type JsonValue, member } from "../protocol/index.ts";
import type { Snapshot } from "./ledger.ts";
import type { ConfirmationRecord } from "./records.ts";

/** What has become of one use of a gated function. */
export type GateOutcome<Result> =
  | { readonly status: "pending"; readonly confirmation: ConfirmationRecord }
  /** Approved; it runs, or is about to, here or in another process. */
  | { readonly status: "executing"; readonly callId: string }
  | { readonly status: "succeeded"; readonly result: Result }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "denied"; readonly reason?: string }
  | { readonly status: "expired" }
  | { readonly status: "cancelled"; readonly reason: string }
  /** It started and its end is not known: a person has to settle it. */
  | { readonly status: "unknown"; readonly callId: string };

/** Reads the outcome from the ledger, so that every process and every time gives the same one. */
export function outcomeOf<Result extends JsonValue | undefined>(
  snapshot: Snapshot | undefined,
): GateOutcome<Result> {
  const { call, confirmation } = snapshot ?? {};
  if (call === undefined) return { status: "cancelled", reason: "the call was erased" };
  switch (call.status) {
    case "waiting":
    case "suspended":
      return confirmation === undefined
        ? { status: "executing", callId: call.id }
        : { status: "pending", confirmation };
    case "ready":
    case "executing":
      return { status: "executing", callId: call.id };
    case "succeeded":
      // The body's own type: this is what it returned, as JSON.
      return { status: "succeeded", result: call.result as Result };
    case "failed":
      return { status: "failed", error: textOf(call.result, "error") ?? "the function failed" };
    case "denied": {
      const reason = confirmation?.votes.at(-1)?.reason;
      return reason === undefined ? { status: "denied" } : { status: "denied", reason };
    }
    case "expired":
      return { status: "expired" };
    case "cancelled":
      return { status: "cancelled", reason: textOf(call.result, "reason") ?? "it was withdrawn" };
    case "unknown":
      return { status: "unknown", callId: call.id };
  }
}

function textOf(value: JsonValue | undefined, key: string): string | undefined {
  const found = isJsonObject(value) ? member(value, key) : undefined;
  return typeof found === "string" ? found : undefined;
}
