/**
 * The ledger as the engine sees it: the interface that stores implement, its rows, and how a command reads and writes them.
 * Every change is load, judge, commit, with a compare-and-set on the session's version.
 * Decided here: what is read together and what is committed together (`Draft`, `transact`);
 * when a command is judged again and when it gives up; how a request under an idempotency key is recognised;
 * what begins from memory instead of a read. Contracts that every store must pass are in `contract/`.
 */

export type {
  CallChange,
  Commit,
  CommitOutcome,
  ConfirmationChange,
  FrameChange,
  SessionChange,
  SessionName,
  Snapshot,
  Target,
  Write,
} from "./commit.ts";
export { afterCommit, type Committed } from "./committed.ts";
export { Draft } from "./draft.ts";
export {
  type IdempotentRequest,
  KEY_KNOWN_MS,
  type Recalled,
  type RememberedRun,
  recallResponse,
  rememberResponse,
  textIn,
  toRememberedRun,
} from "./idempotency.ts";
export { InFlight } from "./in-flight.ts";
export type { ItemVersion, KeyValueStore, StoredItem } from "./key-value-store.ts";
export type { DuePlace, DueWork, Ledger, LedgerStats } from "./ledger.ts";
export type {
  ConfirmationFilter,
  ConfirmationWithCall,
  EventRange,
  FoundStandby,
  GrantsRequest,
  GrantWithSession,
  ListRequest,
  Lists,
  Page,
  PageRequest,
  SessionFilter,
  StandbyProblem,
  Standbys,
  UnknownCallsRequest,
} from "./lists.ts";
export type { EventDraft } from "./log-row-draft.ts";
export type { HeldWork, LedgerHistory, Owner, OwnerState, Owners } from "./owners.ts";
export { allOf, eachOf, pagesOf } from "./pages.ts";
export type {
  CallRecord,
  CallStatus,
  SettlementRecord,
  StepKind,
  StepRecord,
  StepStatus,
} from "./records/call-record.ts";
export type {
  AppliedRule,
  CardLayout,
  ConfirmationRecord,
  ConfirmationStatus,
  Escalation,
  PolicyNote,
  Shown,
  Sighting,
  Vote,
  VoteSlot,
} from "./records/confirmation-record.ts";
export type { Asker, FrameKind, FrameRecord, FrameStatus } from "./records/frame-record.ts";
export {
  fromSharedItem,
  type GrantApproval,
  type GrantLimits,
  type GrantRecord,
  type GrantRevocation,
  type GrantUse,
  isShared,
  SHARED_GRANT,
  type StoredGrantUse,
  sharedVersion,
  withGrant,
} from "./records/grant-record.ts";
export type { CheckpointRecord, JournalRecord, LogRow } from "./records/log-row.ts";
export { cutPolicy, cutShown, cutSubject, cutValue, cutVotes } from "./records/preview.ts";
export { searchableWords, wordsOf } from "./records/search-words.ts";
export type { ChainHead, Pruned, Remains, SessionRecord } from "./records/session-record.ts";
export { turnOf } from "./records/turn-of.ts";
export { isLedgerAway, retryUntilStored } from "./retry-until-stored.ts";
export { checkSecret } from "./secret-check.ts";
export { SessionQueue } from "./session-queue.ts";
export { isEverybodys, stateWrites, withoutTemporary } from "./state-scopes.ts";
export { isLedgerSuspended, resumeLedger, SUSPENSION, suspendedError, suspendLedger } from "./suspension.ts";
export { type Conflict, type Judge, type Known, leavesToOthers, type Plan, transact } from "./transact.ts";
