import {
  A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { CountersignError, type ErrorCode } from "../../protocol/index.ts";

type Kind = "malformed" | "not-found" | "unsupported" | "not-cancelable" | "internal";

/** The A2A error of each code; the code itself is in the error's details. */
const KINDS = {
  "malformed-json": "malformed",
  "malformed-request": "malformed",
  "invalid-cursor": "malformed",
  "malformed-decision": "malformed",
  "malformed-call": "malformed",
  "unknown-confirmation": "malformed",
  "unknown-call": "malformed",
  "unknown-session": "not-found",
  "unknown-delivery": "malformed",
  "unknown-delegation": "malformed",
  "unknown-hold": "malformed",
  "unknown-notice": "malformed",
  "unknown-grant": "malformed",
  "unknown-tenant": "not-found",
  "unknown-app": "not-found",
  "session-exists": "unsupported",
  "session-busy": "unsupported",
  "session-deleted": "not-found",
  "session-full": "unsupported",
  "call-executing": "not-cancelable",
  "under-hold": "not-cancelable",
  ambiguous: "malformed",
  unauthenticated: "unsupported",
  forbidden: "unsupported",
  suspended: "unsupported",
  "not-an-approver": "unsupported",
  "already-decided": "unsupported",
  expired: "unsupported",
  withdrawn: "unsupported",
  "stale-version": "unsupported",
  "wrong-invocation": "malformed",
  "payload-mismatch": "malformed",
  "grant-refused": "malformed",
  "arguments-mismatch": "malformed",
  "arguments-altered": "unsupported",
  "signature-invalid": "unsupported",
  "definition-changed": "unsupported",
  "tool-gone": "unsupported",
  "policy-denied": "unsupported",
  "forged-result": "malformed",
  "reserved-name": "malformed",
  "too-many-open": "unsupported",
  "over-quota": "unsupported",
  "replay-diverged": "unsupported",
  "not-claimable": "unsupported",
  "claim-lost": "unsupported",
  "not-settleable": "unsupported",
  "not-cancellable": "not-cancelable",
  "key-reused": "malformed",
  "model-failed": "internal",
  "unknown-model": "internal",
  "unknown-tool": "malformed",
  "model-calls-exhausted": "unsupported",
  "step-lost": "unsupported",
  "timed-out": "unsupported",
  "unknown-route": "malformed",
  "method-not-allowed": "malformed",
  "unsupported-media-type": "malformed",
  "foreign-host": "unsupported",
  "foreign-origin": "unsupported",
  "too-slow": "unsupported",
  "rate-limited": "unsupported",
  "too-large": "malformed",
  "ledger-busy": "internal",
  "ledger-mismatch": "internal",
  "ledger-newer": "internal",
  "ledger-older": "internal",
  "ledger-unreachable": "internal",
  "invalid-option": "internal",
  "missing-package": "internal",
  closed: "internal",
  internal: "internal",
} as const satisfies Record<ErrorCode, Kind>;

const CLASSES = {
  malformed: RequestMalformedError,
  "not-found": TaskNotFoundError,
  unsupported: UnsupportedOperationError,
  "not-cancelable": TaskNotCancelableError,
} as const;

/** A refusal as an A2A error: one sentence, and our code in the details. */
export function refused(code: ErrorCode, message: string): A2AError {
  const kind = KINDS[code];
  const about = { message, metadata: { code } };
  return kind === "internal" ? new A2AError(about) : new CLASSES[kind](about);
}

/** The error for a missing task, and for somebody else's. */
export function noTask(taskId: string): A2AError {
  return new TaskNotFoundError(`There is no task ${taskId}, or none that you may see.`);
}

/** The error for an operation that the task's state does not allow. */
export function unsupported(message: string): A2AError {
  return new UnsupportedOperationError(message);
}

/** Any error as an A2A error. Internal errors are reported to the log, without details for the client. */
export function toA2aError(error: unknown, report: (error: unknown) => void): A2AError {
  if (error instanceof A2AError) return error;
  if (CountersignError.isInstance(error) && KINDS[error.code] !== "internal") {
    return refused(error.code, error.message);
  }
  report(error);
  return new A2AError({
    message: "Internal error. See the server log for details.",
    metadata: { code: "internal" },
  });
}
