export { deniedAnswer, EXPIRED_ANSWER, toResponse } from "./answer.ts";
export type { AskedCall, Question } from "./ask.ts";
export type { Fault, Verification } from "./audit.ts";
export { isRequester, mayDecide, mayWithdraw, type Ruled } from "./authority.ts";
export {
  type AskOptions,
  type CallContext,
  CallLeft,
  ConfirmationRejected,
  OutcomeUnknown,
  type StepContext,
  type StepOptions,
} from "./call-context.ts";
export { CallEnd, type CallEndOptions, type Delegation, delegateFrameId } from "./call-end.ts";
export type { Claimed } from "./claim.ts";
export { type Clock, jitter, systemClock } from "./clock.ts";
export type { Closed } from "./close.ts";
export {
  type Confirmation,
  type ConfirmationDecision,
  type ConfirmationSubject,
  rightsOf,
  toConfirmation,
} from "./confirmation.ts";
export type { Decided, Decider, DecisionInput, Refusal } from "./decision.ts";
export { definitionDigest, type ToolDefinition, valueDigest } from "./digest.ts";
export type { EventDraft } from "./draft.ts";
export { type Acting, type DecisionReceipt, Engine, type EngineOptions } from "./engine.ts";
export { type ChildInput, type FrameEnd, REQUESTERS } from "./frames.ts";
export type { GateBody, GatedFunction, GateOptions, GateUse } from "./gate.ts";
export type { GateOutcome } from "./gate-outcome.ts";
export type { Amendment, AskingRules, Host, HostedApp, LiveTool } from "./host.ts";
export { createIds, type NewId } from "./ids.ts";
export type {
  CallChange,
  Commit,
  CommitOutcome,
  ConfirmationChange,
  ConfirmationFilter,
  ConfirmationWithCall,
  DueWork,
  FrameChange,
  Ledger,
  Memo,
  Owner,
  OwnerState,
  Page,
  PageRequest,
  SessionChange,
  SessionName,
  Snapshot,
  Target,
  Write,
} from "./ledger.ts";
export {
  CALL_TRANSITIONS,
  type CallCommand,
  CONFIRMATION_TRANSITIONS,
  type ConfirmationCommand,
  FRAME_TRANSITIONS,
  type FrameCommand,
  isAnswered,
  nextCall,
  nextConfirmation,
  nextFrame,
  type ShownStatus,
  shownStatus,
} from "./lifecycle.ts";
export { LOGIN_MODES, type LoginMode, loginModeOf, setLoginMode } from "./login-mode.ts";
export { ManualClock } from "./manual-clock.ts";
export { type Once, type Recalled, type RememberedRun, toRememberedRun } from "./once.ts";
export type { Delivery, DeliveryEnd, Outbox } from "./outbox.ts";
export { DEFAULT_SETTINGS, type EngineSettings } from "./parts.ts";
export { judgePayload, type PayloadOutcome } from "./payload.ts";
export {
  ANYBODY,
  type Approvers,
  isAnybody,
  type Principal,
  type PrincipalInput,
  type PrincipalKind,
  toPrincipal,
} from "./principal.ts";
export type {
  CallRecord,
  CallStatus,
  CardLayout,
  ChainHead,
  CheckpointRecord,
  ConfirmationRecord,
  ConfirmationStatus,
  FrameKind,
  FrameRecord,
  FrameStatus,
  JournalRecord,
  SessionRecord,
  Shown,
  StepKind,
  StepRecord,
  StepStatus,
  Vote,
} from "./records.ts";
export { REDACTED, redact } from "./redact.ts";
export type { Tried } from "./refuse.ts";
export {
  type Parameters,
  type ParseOutcome,
  readForm,
  readShape,
  type Shape,
  type StandardSchema,
} from "./schema.ts";
export { searchableWords, wordsOf } from "./search-words.ts";
export type { Settled, Settlement, SettlementInput } from "./settle.ts";
export type { KeptItem, Shelf } from "./shelf.ts";
export { withoutTemporary } from "./state-scopes.ts";
export type { Trace, Traced } from "./trace.ts";
export type { Rest, Trail } from "./trail.ts";
export type { CallPlan, MessageInput, MessageOutcome, PlannedCall, Turn, TurnInput } from "./turns.ts";
export { type Cancelled, isWithdrawnBy } from "./withdraw.ts";
export type { Worker, WorkOptions } from "./worker.ts";
