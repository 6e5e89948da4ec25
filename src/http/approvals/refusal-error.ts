import type { Refusal } from "../../engine/index.ts";
import { CountersignError, type ErrorCode } from "../../protocol/index.ts";

const HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  "already-decided": "GET the confirmation to see its decision and outcome.",
  "stale-version": "GET the confirmation, check what changed, and decide with the new version.",
  "payload-mismatch": "Send a payload that matches the confirmation's `schema`.",
  "arguments-mismatch":
    "Send arguments that match the confirmation's `argsSchema`, and change only amendable fields.",
};

/** A refusal as the error that a route throws. */
export function toError({ code, message, field }: Refusal): CountersignError {
  const hint = HINTS[code];
  return new CountersignError(code, message, {
    details: { ...(field === undefined ? {} : { field }), ...(hint === undefined ? {} : { hint }) },
  });
}
