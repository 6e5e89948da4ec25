import type { Confirmation } from "countersign/client";

export type {
  Call,
  CallOwner,
  Confirmation,
  ConfirmationContext,
  Decision,
  Event,
  FailedDelivery,
  Grant,
  GrantLimits,
  JsonObject,
  JsonValue,
  ListPage,
  Me,
  Notice,
  Session,
  SettlementInput,
} from "countersign/client";

export type Status = Confirmation["status"];
