import type { ErrorCode } from "../../protocol/index.ts";
import { isAnybody, isVouched, mayJudge, type Principal, withoutRight } from "../people/index.ts";

/** Why it was not done. */
export interface DelegationRefusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string;
}

/** Why this principal may not delegate for this person; undefined if they may. */
export function rightTo(by: Principal, from: string): DelegationRefusal | undefined {
  const { kind, scopes, onBehalfOf } = by;
  const isPerson = kind !== "agent" && !(isVouched(by) && kind !== "local") && onBehalfOf === undefined;
  if (!isPerson || isAnybody(by))
    return refuse("forbidden", `${by.id} is not a known person. Only people delegate their votes.`);
  if (scopes.includes("admin")) return undefined;
  if (!mayJudge(by)) return refuse("forbidden", withoutRight(by));
  if (by.id === from) return undefined;
  return refuse("forbidden", `Only ${from}, or an operator with the scope "admin", may do this.`);
}

/** A refusal, and the member of the request that is wrong. */
export function refuse(code: ErrorCode, message: string, field?: string): DelegationRefusal {
  return { ok: false, code, message, ...(field === undefined ? {} : { field }) };
}
