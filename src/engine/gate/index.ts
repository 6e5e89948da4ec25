/**
 * The one gate: every call passes it, from a Runner's agent, `engine.gate`, an MCP gateway or a remote agent. Decided
 * here: whether a call runs, is asked about or is denied (`judge`): what the tool's author, policies and hooks say
 * together, the strictest wins; what the card says; how arguments are parsed, changed and restored; and, for
 * `engine.gate`, what the caller is told about a call that waits, ran, was denied or is unknown. If a predicate, a
 * policy or a hint fails, a person is asked.
 */

export { parseArguments, restoreArguments } from "./arguments.ts";
export { type AskingOptions, checkAsking } from "./asking-options.ts";
export { askingTerms, type CardNotes, forbiddenAnswer, questionFor } from "./card.ts";
export { Definitions } from "./definitions.ts";
export {
  createGate,
  type GateBody,
  type GatedFunction,
  GateHost,
  type GateOptions,
  type GateUse,
} from "./gate.ts";
export type { GateOutcome } from "./gate-outcome.ts";
export {
  type AuthorGate,
  type ConfirmationRules,
  type GateContext,
  type GatedTool,
  meets,
  toConfirmationRules,
} from "./gated-tool.ts";
export { type CallSubject, type GatedCall, type GateRules, judge, rulesAt } from "./judge.ts";
export { type HookAnswer, judgeAgain } from "./judge-again.ts";
export { toLiveTool } from "./live-tool.ts";
export { planUnder } from "./plan.ts";
export type {
  EntryPoint,
  Policy,
  PolicyCall,
  PolicySource,
  PolicyVerdict,
  RuleEscalation,
} from "./policy.ts";
export { PolicyTexts, policyText } from "./policy-texts.ts";
export type { Ruling, Verdict } from "./verdict.ts";
