/**
 * Calls that their caller runs: a program in any language asks here before it acts, waits, and reports what happened.
 * Decided here: which call a caller's key names (one call, for good); when the caller may start it (one claim, under a
 * lease that the caller renews); and what its word on the outcome changes. The gate, the questions, the decisions and
 * the recovery of lost claims are the same as for calls that run in our processes.
 */

export { CallerCalls, type CallerRef } from "./caller-calls.ts";
export type { CallerOutcome, CallerStatus } from "./caller-outcome.ts";
export { storedCallerTool } from "./caller-tool.ts";
export type { CallerClaim, ClaimRequest } from "./claim.ts";
export type { Proposal } from "./proposal.ts";
export type { CallerEnd } from "./report.ts";
