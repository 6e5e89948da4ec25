/**
 * Calls: from the claim to the recorded result.
 * A call is claimed by compare-and-set, under a running lease, before its body is entered.
 * Decided here: the last look before a body runs (`clear`); what a body may do and what it remembers (`ctx.step`);
 * how an end is recorded, also one that comes late or that the ledger forgot;
 * and when an outcome is `unknown`.
 */

export { type Call, toCall } from "./call.ts";
export {
  type AskOptions,
  CallAbandoned,
  type CallContext,
  ConfirmationRejected,
  OutcomeUnknown,
  type StepContext,
  type StepOptions,
} from "./call-context.ts";
export { CallEnd, type CallEndOptions, type Delegation } from "./call-end.ts";
export {
  argumentsChange,
  type Blocked,
  type Claimed,
  type Clearance,
  clear,
  isAbout,
  writeClaim,
} from "./claim.ts";
export type { KnownClaim } from "./claim-outcomes.ts";
export { planClaim, type Taken } from "./claim-ready.ts";
export { Executions } from "./executions.ts";
export { writeUnknown } from "./mark-unknown.ts";
export { permitFor } from "./permit.ts";
export { isClaimLost, markClaimLost } from "./record-too-late.ts";
