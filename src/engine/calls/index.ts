/**
 * Calls: from the claim to the recorded result. A call is claimed by compare-and-set, under a valid lease, before its
 * function starts. Decided here: the last check before a function runs (`clear`); what a function may do and which of
 * its work is stored (`ctx.step`); how an end is recorded, also if it comes late or the ledger lost it; and when an
 * outcome is `unknown`.
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
  relyOnGrant,
  writeClaim,
} from "./claim.ts";
export type { KnownClaim } from "./claim-outcomes.ts";
export { planClaim, type Taken } from "./claim-ready.ts";
export { Executions } from "./executions.ts";
export { isClaimLost, markClaimLost } from "./lost-claim.ts";
export { isPermitted, permitFor } from "./permit.ts";
export { recordEntry } from "./record-entry.ts";
export { storedResult } from "./stored-result.ts";
export { toolConfirmationOf } from "./tool-confirmation.ts";
export { isDecided, isEnded, untilDecided, untilEnded, type WaitOptions } from "./until-ended.ts";
