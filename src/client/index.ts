/**
 * The client of the approvals API, for Node.js and browsers. Decided here: how requests and streams are sent again; and how a
 * refusal becomes an error with its code. It imports only types and `protocol`.
 */

export type {
  Approvers,
  CallerOutcome,
  CallerStatus,
  Confirmation,
  ConfirmationDecision,
  ConfirmationSettlement,
  ConfirmationSighting,
  Delegated,
  FailedDelivery,
  Grant,
  GrantLimits,
  GrantTerms,
  NotificationSettings,
  QuietHours,
  SessionVerification,
  Settlement,
  SettlementInput,
  ShownStatus,
  Statistics,
  StatisticsNumbers,
  ToldPerson,
  Verification,
} from "../engine/index.ts";
export type { Content, ErrorCode, Event, JsonObject, JsonValue, Problem } from "../protocol/index.ts";
export type { SessionsClient } from "./agents.ts";
export {
  type CallsClient,
  type Client,
  type ConfirmationsClient,
  createClient,
  type DelegationsClient,
  type DeliveriesClient,
  type GrantsClient,
  type NoticesClient,
  type NotificationsClient,
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
  DelegationInput,
  ListOptions,
  ListPage,
  Me,
  Notice,
  ReplayDifference,
  ReplayReport,
  RunRequest,
  Session,
  SessionOwner,
  StreamMessage,
  StreamOptions,
  StreamState,
  WriteOptions,
} from "./types.ts";
