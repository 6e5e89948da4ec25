import type { Refusal } from "../../engine/index.ts";
import { CountersignError, type ErrorCode } from "../../protocol/index.ts";

const HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  "already-decided": "GET the confirmation to see what came of it.",
  "stale-version": "GET the confirmation, look at what changed, and decide with its version.",
  "payload-mismatch": "Send a payload that fits the confirmation's `schema`.",
  "arguments-mismatch":
    "Send arguments that fit the confirmation's `argsSchema`, in fields that may be amended.",
};

/** A refusal as a route throws it. */
export function toError({ code, message, field }: Refusal): CountersignError {
  const hint = HINTS[code];
  return new CountersignError(code, message, {
    details: { ...(field === undefined ? {} : { field }), ...(hint === undefined ? {} : { hint }) },
  });
}
