/**
 * How many approvers a policy needs, tried out before anybody is asked: a scenario of agents and approvers, played on a
 * real engine with a clock that jumps. Decided here: when calls arrive, when people work and how fast they react, what
 * they read next, and what is counted. What a call needs, who may decide, and what a decision, an escalation or a
 * deadline does is decided by the policy and the engine; nothing of it is repeated here.
 */

export type { Quantiles } from "./measures.ts";
export { readScenario, type ScenarioFile } from "./read-scenario.ts";
export type { SimulationNumbers, SimulationReport } from "./report.ts";
export { expectedCalls, type Scenario, sampled, type Team, USUAL_HOURS, USUAL_WEEKDAYS } from "./scenario.ts";
export { simulate } from "./simulate.ts";
export { callsOfTests, teamsOf } from "./usual-scenario.ts";
