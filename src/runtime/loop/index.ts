/**
 * Steps: what an agent does next, until something waits. Decided here: one step of a model's agent, of a composite
 * agent, of a remote agent; how a step fails; the limits of one run; and how steps are stopped. Each step begins
 * from the ledger and ends in a commit.
 */

export { Background } from "./background.ts";
export { Cancellation } from "./cancellation.ts";
export { stepComposite } from "./composite-step.ts";
export { failureOf } from "./failure.ts";
export { foreignLiveTool, stepForeign } from "./foreign-step.ts";
export { limitRun, type RunLimits } from "./limit-run.ts";
export { stepLlm } from "./llm-step.ts";
export { RemoteWork } from "./remote-work.ts";
