export type { AskedCall, Question } from "./ask.ts";
export { checkedAsk } from "./ask-options.ts";
export { type AskingOptions, checkAsking } from "./asking-options.ts";
export { isRequester, isVouched, mayDecide, mayJudge, type Ruled } from "./authority.ts";
export {
  type AskOptions,
  type CallContext,
  CallLeft,
  ConfirmationRejected,
  OutcomeUnknown,
  type StepContext,
  type StepOptions,
} from "./call-context.ts";
export { CallEnd, type CallEndOptions, type Delegation } from "./call-end.ts";
export { parseChanged } from "./changed-args.ts";
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
export { errorText } from "./error-text.ts";
export { firstQuestion } from "./first-question.ts";
export { type Asker, askerIn, type ChildInput, type FrameEnd } from "./frames.ts";
export type { GateBody, GatedFunction, GateOptions, GateUse } from "./gate.ts";
export type { GateOutcome } from "./gate-outcome.ts";
export { findGivenUp, type GivenUpDelivery, listGivenUp, notGivenUp } from "./given-up.ts";
export type { Amendment, AskingRules, Host, HostedApp, LiveTool } from "./host.ts";
export { createIds, type NewId } from "./ids.ts";
export { refuseUnknown } from "./known-options.ts";
export type {
  CallChange,
  Commit,
  CommitOutcome,
  ConfirmationChange,
  ConfirmationFilter,
  ConfirmationWithCall,
  DueWork,
  EventRange,
  FrameChange,
  HeldWork,
  JournalRange,
  Ledger,
  LedgerHistory,
  ListRequest,
  Memo,
  Owner,
  OwnerState,
  Page,
  PageRequest,
  SealedUpon,
  SessionChange,
  SessionName,
  Snapshot,
  Target,
  UnknownCallsRequest,
  Write,
} from "./ledger.ts";
export type { LedgerStats } from "./ledger-stats.ts";
export {
  CALL_TRANSITIONS,
  type CallCommand,
  CONFIRMATION_TRANSITIONS,
  type ConfirmationCommand,
  type FrameCommand,
  isAnswered,
  nextCall,
  type ShownStatus,
  shownStatus,
} from "./lifecycle.ts";
export { LOGIN_MODES, type LoginMode, loginModeOf, setLoginMode } from "./login-mode.ts";
export { ManualClock } from "./manual-clock.ts";
export { checkSessionName, checkStateKey, flawOfName, storableText } from "./names.ts";
export { NOTICE_KINDS } from "./notice.ts";
export { acknowledgeNotice, type KeptNotice, listNotices, openNotices } from "./notices.ts";
export { type Once, type Recalled, type RememberedRun, toRememberedRun } from "./once.ts";
export type { Delivery, DeliveryEnd, Outbox } from "./outbox.ts";
export { DEFAULT_SETTINGS, type EngineSettings } from "./parts.ts";
export type { PayloadOutcome } from "./payload.ts";
export { cutShown, cutSubject, cutValue, cutVotes } from "./preview.ts";
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
export { type JournalPlace, recordsAfter } from "./records-after.ts";
export { redact } from "./redact.ts";
export type { Tried } from "./refuse.ts";
export type { Doubted } from "./restored.ts";
export {
  type Parameters,
  type ParseOutcome,
  type PayloadReading,
  readForm,
  readShape,
  type Shape,
  type StandardSchema,
} from "./schema.ts";
export { searchableWords, wordsOf } from "./search-words.ts";
export type { Settled, Settlement, SettlementInput } from "./settle.ts";
export type { KeptItem, Shelf } from "./shelf.ts";
export { bytesOf } from "./sizes.ts";
export { isEverybodys, withoutTemporary } from "./state-scopes.ts";
export type { Trace, Traced } from "./trace.ts";
export type { Rest, Trail } from "./trail.ts";
export type { CallPlan, MessageInput, MessageOutcome, PlannedCall, Turn, TurnInput } from "./turns.ts";
export { unlessClosed } from "./unless-closed.ts";
export type { Fault, Verification } from "./verify.ts";
export { looksAs, looksAsRequester, viewersOf } from "./viewers.ts";
export { type Cancelled, isWithdrawnBy } from "./withdraw.ts";
export type { Worker, WorkOptions } from "./worker.ts";
