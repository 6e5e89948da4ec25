/**
 * Decisions of people: approve, deny, amend, withdraw, settle. Every way to decide ends here; a decision is committed
 * before anything runs. Decided here: whether this principal may decide this question now; whether it was already
 * decided; whether amended arguments may run; what is signed; and what is journalled of a refused attempt. A second,
 * different decision is always refused.
 */

export {
  type Decided,
  type Decider,
  type DecisionInput,
  type DecisionTarget,
  type Refusal,
  type RefusedDecision,
  refusalError,
  type UsedUp,
  type Whole,
} from "./decision.ts";
export { type Acting, Decisions, toDecider } from "./decisions.ts";
export { judgeOnce, type OnceKey, type StoredRefusal } from "./once.ts";
export { recordRefusal, type Tried } from "./refuse.ts";
export { wasRecorded } from "./repeat.ts";
export type { Settled, Settlement, SettlementInput } from "./settle.ts";
export { describeProgress } from "./vote.ts";
export type { Cancelled } from "./withdraw.ts";
export type { VoteWithdrawn } from "./withdraw-vote.ts";
