import { CountersignError } from "../../protocol/index.ts";
import type { CallRecord, CallStatus, ConfirmationStatus, FrameStatus } from "../ledger/index.ts";

/** What can happen to a question. */
export type ConfirmationCommand = "approve" | "deny" | "expire" | "withdraw";

/** What can happen to a call. */
export type CallCommand =
  | "approve"
  | "reask"
  | "refuse"
  | "deny"
  | "expire"
  | "cancel"
  | "claim"
  | "succeed"
  | "fail"
  | "word-denial"
  | "word-expiry"
  | "ask"
  | "delegate"
  | "return"
  | "return-failed"
  | "lose"
  | "mark-unknown"
  | "release"
  | "settle-succeeded"
  | "settle-failed"
  | "settle-retry";

/** What can happen to a frame. */
export type FrameCommand =
  | "step"
  | "take-over"
  | "wait"
  | "complete"
  | "yield"
  | "finish"
  | "fail"
  | "cancel";

type Table<Status extends string, Command extends string> = {
  readonly [status in Status]: { readonly [command in Command]?: Status };
};

/** Everything that is not in the table is refused. */
export const CONFIRMATION_TRANSITIONS: Table<ConfirmationStatus, ConfirmationCommand> = {
  requested: { approve: "approved", deny: "denied", expire: "expired", withdraw: "cancelled" },
  // Only while its call has not been claimed; the call's own table says so.
  approved: { withdraw: "cancelled" },
  denied: {},
  expired: {},
  cancelled: {},
};

export const CALL_TRANSITIONS: Table<CallStatus, CallCommand> = {
  // `reask`: the tool is not the one that was shown; people are asked again. `mark-unknown`: the ledger was restored or lost
  // commits, and the call may have run, or did.
  waiting: {
    approve: "ready",
    reask: "waiting",
    deny: "denied",
    expire: "expired",
    cancel: "cancelled",
    "mark-unknown": "unknown",
  },
  ready: { claim: "executing", reask: "waiting", cancel: "cancelled", "mark-unknown": "unknown" },
  executing: {
    succeed: "succeeded",
    fail: "failed",
    "word-denial": "denied",
    "word-expiry": "expired",
    ask: "suspended",
    // Its work was delegated to another agent, in its own frame.
    delegate: "suspended",
    lose: "unknown",
    // At an earlier attempt than the one that ran.
    "mark-unknown": "unknown",
    release: "ready",
  },
  // `refuse`: denied, but the tool runs once more to word the answer.
  suspended: {
    // The result of the delegated work.
    return: "succeeded",
    "return-failed": "failed",
    approve: "ready",
    refuse: "ready",
    deny: "denied",
    expire: "expired",
    cancel: "cancelled",
    "mark-unknown": "unknown",
  },
  unknown: {
    // A late result of the last attempt, while nobody has settled.
    succeed: "succeeded",
    fail: "failed",
    "word-denial": "denied",
    "word-expiry": "expired",
    // Its owner knows that the function never started.
    release: "ready",
    "settle-succeeded": "succeeded",
    "settle-failed": "failed",
    "settle-retry": "ready",
  },
  succeeded: {},
  failed: {},
  denied: {},
  expired: {},
  cancelled: {},
};

export const FRAME_TRANSITIONS: Table<FrameStatus, FrameCommand> = {
  ready: { step: "stepping", cancel: "cancelled" },
  stepping: {
    wait: "waiting",
    yield: "ready",
    // Its process was lost; another process takes the same step.
    "take-over": "stepping",
    finish: "done",
    fail: "failed",
    cancel: "cancelled",
  },
  waiting: { complete: "ready", cancel: "cancelled" },
  done: {},
  failed: {},
  cancelled: {},
};

/** The status that a confirmation moves to, or undefined if the command is not allowed. */
export function nextConfirmation(
  status: ConfirmationStatus,
  command: ConfirmationCommand,
): ConfirmationStatus | undefined {
  return CONFIRMATION_TRANSITIONS[status][command];
}

/** The status that a call moves to, or undefined if the command is not allowed. */
export function nextCall(status: CallStatus, command: CallCommand): CallStatus | undefined {
  return CALL_TRANSITIONS[status][command];
}

/** The initial statuses of a row. A call that needs no approval starts as answered or executing. */
export const FIRST_STATUSES: {
  readonly call: readonly CallStatus[];
  readonly confirmation: readonly ConfirmationStatus[];
  readonly frame: readonly FrameStatus[];
} = {
  call: ["waiting", "executing", "succeeded", "failed", "denied"],
  confirmation: ["requested"],
  frame: ["ready", "stepping"],
};

interface Row<Status> {
  readonly id: string;
  readonly status: Status;
}

/**
 * The call's status after these commands. A command that is not allowed is a bug: it throws, and nothing is committed.
 */
export function callAfter(call: Row<CallStatus>, ...commands: readonly CallCommand[]): CallStatus {
  return after("Call", CALL_TRANSITIONS, call, commands);
}

/** The same for a confirmation. */
export function confirmationAfter(
  confirmation: Row<ConfirmationStatus>,
  command: ConfirmationCommand,
): ConfirmationStatus {
  return after("Confirmation", CONFIRMATION_TRANSITIONS, confirmation, [command]);
}

/** The same for a frame. */
export function frameAfter(frame: Row<FrameStatus>, ...commands: readonly FrameCommand[]): FrameStatus {
  return after("Frame", FRAME_TRANSITIONS, frame, commands);
}

function after<Status extends string, Command extends string>(
  what: string,
  table: Table<Status, Command>,
  { id, status }: Row<Status>,
  commands: readonly Command[],
): Status {
  return commands.reduce((current, command) => {
    const next: Status | undefined = table[current][command];
    if (next !== undefined) return next;
    throw new CountersignError("internal", `${what} ${id} is ${current}; "${command}" is not possible.`);
  }, status);
}

/** Throws unless rows of this kind may start in this status: anything else is a bug. */
export function checkFirst<Sort extends keyof typeof FIRST_STATUSES>(
  sort: Sort,
  { id, status }: Row<(typeof FIRST_STATUSES)[Sort][number]>,
): void {
  const first: readonly string[] = FIRST_STATUSES[sort];
  if (first.includes(status)) return;
  throw new CountersignError("internal", `A ${sort} cannot start as ${status}: ${id}.`);
}

const ANSWERED: ReadonlySet<CallStatus> = new Set(["succeeded", "failed", "denied", "expired", "cancelled"]);

/** Does the call have its final answer? */
export function isAnswered(status: CallStatus): boolean {
  return ANSWERED.has(status);
}

/** Does it run, or was a process lost while it ran? Then nobody may say that it did not run. */
export function mayHaveRun({ status, lost = 0 }: Pick<CallRecord, "status" | "lost">): boolean {
  return status === "executing" || (status === "ready" && lost > 0);
}

/** The single status that the API shows for a confirmation and its call. */
export type ShownStatus = ConfirmationStatus | "executing" | "succeeded" | "failed" | "unknown";

/** Until the approval, the confirmation's own status; after that, the call's. */
export function shownStatus(confirmation: ConfirmationStatus, call: CallStatus): ShownStatus {
  if (confirmation !== "approved") return confirmation;
  switch (call) {
    case "executing":
    case "succeeded":
    case "failed":
    case "unknown":
    case "cancelled":
      return call;
    // A later question of the same call had another outcome; this one stays approved.
    case "denied":
    case "expired":
    case "waiting":
    case "ready":
    case "suspended":
      return "approved";
  }
}

/** Is this a status that no frame leaves? */
export function isFrameOver(status: FrameStatus): boolean {
  return status === "done" || status === "failed" || status === "cancelled";
}
