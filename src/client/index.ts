export type {
  Approvers,
  CallerOutcome,
  CallerStatus,
  Confirmation,
  ConfirmationDecision,
  ConfirmationSettlement,
  FailedDelivery,
  SessionVerification,
  Settlement,
  SettlementInput,
  ShownStatus,
  Statistics,
  StatisticsNumbers,
  Verification,
} from "../engine/index.ts";
export type { Content, ErrorCode, Event, JsonObject, JsonValue, Problem } from "../protocol/index.ts";
export type { SessionsClient } from "./agents.ts";
export {
  type CallsClient,
  type Client,
  type ConfirmationsClient,
  createClient,
  type DeliveriesClient,
  type NoticesClient,
} from "./client.ts";
export { CountersignProblem } from "./problem.ts";
export { type ClientOptions, PROOF_HEADER } from "./transport.ts";
export type {
  AuditOptions,
  AuditRecord,
  Call,
  CallOptions,
  CallOwner,
  CallProposal,
  ClaimedCall,
  Claiming,
  ClaimProof,
  ConfirmationContext,
  DecideOptions,
  Decision,
  DecisionEntry,
  ListOptions,
  ListPage,
  Me,
  Notice,
  RunRequest,
  Session,
  SessionOwner,
  StreamMessage,
  StreamOptions,
  StreamState,
  WriteOptions,
} from "./types.ts";
