/**
 * Policy files: who may do what, and who must agree, as a file. Decided here: what a file may say and what each part
 * of it means; which rules are about a call; that conditions are typed, bounded and strict, so that a value of a wrong
 * type is an error; and that an error makes a rule that restricts apply, and one that allows not apply. The gate
 * (`engine/gate`) decides what the verdicts of all rules mean together.
 */

export {
  Backtest,
  type BacktestReport,
  type Difference,
  type ExceptionSuggestion,
  type PastCall,
  type Suggestion,
} from "./backtest.ts";
export { policySchema } from "./json-schema.ts";
export { LivePolicy } from "./live-policy.ts";
export { checkPolicy, type PolicyReport, parsePolicy } from "./load.ts";
export type { PolicySurroundings } from "./read-policy.ts";
export type { GrantSuggestion } from "./suggest-grants.ts";
