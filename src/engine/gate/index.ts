/**
 * `engine.gate`: any function behind an approval, without agents.
 * The first use under a key asks; every later use reads what became of it.
 * Decided here: whether a call needs a person; what the card says; how arguments are parsed and restored;
 * and what the caller is told about a call that waits, ran, was denied or is unknown.
 * A judgement that throws counts as yes, a person is needed.
 */

export { type AskingOptions, checkAsking } from "./asking-options.ts";
export { parseChanged } from "./changed-args.ts";
export {
  createGate,
  type GateBody,
  type GatedFunction,
  GateHost,
  type GateOptions,
  type GateUse,
} from "./gate.ts";
export type { GateOutcome } from "./gate-outcome.ts";
