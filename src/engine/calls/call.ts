import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { redact } from "../common/index.ts";
import type { CallRecord, CallStatus, GrantUse } from "../ledger/index.ts";

/** A call, as the public API shows it. The questions about it are `Confirmation`s. */
export interface Call {
  readonly id: string;
  /** The id under which the model made it. */
  readonly callId: string;
  readonly status: CallStatus;
  readonly app: string;
  readonly agent: string;
  readonly user: string;
  readonly session: string;
  readonly tool: string;
  /** With declared secrets redacted. */
  readonly args: JsonObject;
  /** The grant that let it run without a question. */
  readonly grant?: GrantUse;
  /** Counts how often it was started. */
  readonly attempt: number;
  /** Times are ISO 8601. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly result?: JsonValue;
  /** Long values were truncated. */
  readonly truncated?: true;
}

/** Shows a call of a session. */
export function toCall(
  call: CallRecord & { readonly truncated?: true },
  session: { readonly id: string; readonly user: string },
): Call {
  return {
    id: call.id,
    callId: call.wireId,
    status: call.status,
    app: call.app,
    agent: call.agent,
    user: session.user,
    session: session.id,
    tool: call.tool,
    args: redact(call.args, call.secrets),
    ...(call.grant === undefined ? {} : { grant: { id: call.grant.id, by: call.grant.by } }),
    attempt: call.attempt,
    ...(call.startedAt === undefined ? {} : { startedAt: iso(call.startedAt) }),
    ...(call.endedAt === undefined ? {} : { endedAt: iso(call.endedAt) }),
    ...(call.result === undefined ? {} : { result: call.result }),
    ...(call.truncated === undefined ? {} : { truncated: call.truncated }),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
