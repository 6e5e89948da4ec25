/**
 * The runtime's side of a call: from the model's function call to a running tool. Decided here: what hooks do with each
 * call of a turn; which calls get an earlier answer, because the same call waits or was denied; and the context of a
 * running tool. The gate (`engine/gate`) decides whether a call runs, is asked about or is denied. Claims and results
 * are in `engine/calls`.
 */

export { liveToolOf } from "./live-tool.ts";
export { type IdentifiedCall, planCalls, type StepScene } from "./plan-calls.ts";
