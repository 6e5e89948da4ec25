/**
 * The runtime's side of a call: from the model's words to a running body.
 * Decided here: what hooks make of each call of a turn; which calls are answered as before, because the same one waits
 * or was denied; and what surrounds a body when it runs.
 * Whether a call runs, is asked about or is denied is the gate's (`engine/gate`).
 * Claims and results are the engine's (`engine/calls`).
 */

export { liveToolOf } from "./live-tool.ts";
export { type IdentifiedCall, planCalls, type StepScene } from "./plan-calls.ts";
