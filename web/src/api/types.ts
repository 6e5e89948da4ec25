import type { Confirmation } from "countersign/client";

export type {
  Call,
  CallOwner,
  Confirmation,
  ConfirmationContext,
  Decision,
  Delegated as Delegation,
  DelegationInput as NewDelegation,
  Event,
  FailedDelivery,
  Grant,
  GrantLimits,
  JsonObject,
  JsonValue,
  ListPage,
  Me,
  Notice,
  ReplayDifference,
  ReplayReport,
  Session,
  SettlementInput,
} from "countersign/client";

export type Status = Confirmation["status"];
