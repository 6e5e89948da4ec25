import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { copyJson, redact } from "../common/index.ts";
import type { CallRecord, CallStatus, ConfirmationRecord, GrantUse, SessionRecord } from "../ledger/index.ts";
import { type Confirmation, toConfirmation } from "../questions/index.ts";
import { messageOf } from "./wording.ts";

/** `allowed`: the caller may claim it. The others are as everywhere. */
export type CallerStatus =
  | "pending"
  | "allowed"
  | "executing"
  | "succeeded"
  | "failed"
  | "unknown"
  | "denied"
  | "expired"
  | "cancelled";

/** A call, as the program that runs it sees it. */
export interface CallerOutcome {
  readonly id: string;
  readonly key: string;
  readonly status: CallerStatus;
  readonly app: string;
  readonly tool: string;
  /** With declared secrets redacted. After an amendment: the approver's. */
  readonly args: JsonObject;
  /** An approver changed the arguments. */
  readonly amended?: true;
  /** Counts how often it was claimed. */
  readonly attempt: number;
  /** The question, if a person is or was asked. */
  readonly confirmation?: Confirmation;
  /** The grant that let it run without a question. */
  readonly grant?: GrantUse;
  readonly result?: JsonValue;
  readonly error?: string;
  /** Why it was denied or withdrawn. */
  readonly reason?: string;
  /** What to tell a model about it. */
  readonly message: string;
}

const STATUSES: { readonly [status in CallStatus]: CallerStatus } = {
  waiting: "pending",
  suspended: "pending",
  ready: "allowed",
  executing: "executing",
  unknown: "unknown",
  succeeded: "succeeded",
  failed: "failed",
  denied: "denied",
  expired: "expired",
  cancelled: "cancelled",
};

/** What is stored of a caller's call. */
export interface StoredCallerCall {
  readonly call: CallRecord;
  readonly session: Pick<SessionRecord, "id">;
  readonly confirmation?: ConfirmationRecord | undefined;
}

/** Shows a call to its caller. */
export function callerOutcome({ call, session, confirmation }: StoredCallerCall): CallerOutcome {
  const status = STATUSES[call.status];
  const error = status === "failed" ? (textOf(call.result, "error") ?? "the call failed") : undefined;
  const reason = reasonOf(call, confirmation);
  return {
    id: call.id,
    key: call.wireId,
    status,
    app: call.app,
    tool: call.tool,
    args: redact(call.args, call.secrets),
    ...(call.originalArgs === undefined ? {} : { amended: true }),
    attempt: call.attempt,
    ...(confirmation === undefined ? {} : { confirmation: toConfirmation({ confirmation, call, session }) }),
    ...(call.grant === undefined ? {} : { grant: { id: call.grant.id, by: call.grant.by } }),
    ...(status === "succeeded" && call.result !== undefined ? { result: copyJson(call.result) } : {}),
    ...(error === undefined ? {} : { error }),
    ...(reason === undefined ? {} : { reason }),
    message: messageOf({
      status,
      attempt: call.attempt,
      ...(error === undefined ? {} : { error }),
      ...(reason === undefined ? {} : { reason }),
    }),
  };
}

function reasonOf(call: CallRecord, confirmation: ConfirmationRecord | undefined): string | undefined {
  if (call.status !== "denied" && call.status !== "cancelled") return undefined;
  const said = call.status === "denied" ? confirmation?.votes.at(-1)?.reason : undefined;
  return said ?? textOf(call.result, "reason");
}

function textOf(value: JsonValue | undefined, key: string): string | undefined {
  const found = isJsonObject(value) ? member(value, key) : undefined;
  return typeof found === "string" ? found : undefined;
}
