/**
 * Calls that their caller runs: a program in any language, or the code of an agent framework in this process, asks here
 * before it acts, waits, and reports what happened. Decided here: which call a caller's key names (always the same call);
 * when the caller may start it (one claim, under a lease that is renewed); what its report of the outcome changes; when a
 * turn has all its answers (`onReady`); and what a model is told (`toldToModel`). The gate, the questions, the decisions and
 * the recovery of lost claims are the same as for calls that run in our processes.
 */

export { CallerCalls, type CallerThread, type CallRequest } from "./caller-calls.ts";
export type { CallerOutcome, CallerStatus } from "./caller-outcome.ts";
export { storedCallerTool } from "./caller-tool.ts";
export { callKey } from "./key.ts";
export type { CallerRef } from "./read.ts";
export type { OnReady, OnReadyOptions, ReadyNotices, ReadyTurn } from "./ready-notices.ts";
export type { CallerEnd } from "./report.ts";
export type { CallerBody } from "./run-here.ts";
export { SlowChecks } from "./slow-checks.ts";
export { type ToldToModel, toldToModel } from "./wording.ts";
