/**
 * The runtime's side of a call: from the model's words to a running body.
 * Decided here: what becomes of each call of a turn (run, ask, or answer at once);
 * what hooks, policy and the tool's own rules say of it together: the strictest holds;
 * how a stored call finds its tool again; and what surrounds a body when it runs.
 * Claims and results are the engine's (`engine/calls`).
 */

export { forbiddenAnswer } from "./gate-call.ts";
export { deniesNow, toLiveToolFor } from "./live-tool.ts";
export { type IdentifiedCall, planCalls, type StepScene } from "./plan-calls.ts";
export { type Policy, type PolicyCall, type PolicyVerdict, verdictOf } from "./policy.ts";
export { strictest } from "./verdict.ts";
