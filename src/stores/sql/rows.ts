import {
  type CallRecord,
  type CheckpointRecord,
  type ConfirmationRecord,
  cutShown,
  cutValue,
  cutVotes,
  type FrameRecord,
  type HeldWork,
  type Memo,
  type OwnerState,
  type SessionRecord,
  type StepRecord,
  viewersOf,
} from "../../engine/index.ts";
import type { JsonObject, JsonValue, StoredEvent } from "../../protocol/index.ts";
import type { Row, SqlValue } from "./row.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Stands for "no deadline"; the largest integer that a number holds exactly. */
export const NO_DEADLINE: number = Number.MAX_SAFE_INTEGER;

export function fromJson(value: SqlValue | undefined): unknown {
  return JSON.parse(value as string);
}

/** Absent is SQL's null; JSON's own null is the text `null`. */
export function toJson(value: unknown): SqlValue {
  return value === undefined ? null : JSON.stringify(value);
}

/** Where JSON's null cannot be meant. */
export function toJsonOrNull(value: unknown): SqlValue {
  return value === null ? null : toJson(value);
}

export function toSession(row: Row, start = 0): SessionRecord {
  let i = start;
  const session: Writable<SessionRecord> = {
    key: row[i++] as string,
    app: row[i++] as string,
    user: row[i++] as string,
    id: row[i++] as string,
    version: row[i++] as number,
    nextSeq: row[i++] as number,
    open: row[i++] as number,
    ready: row[i++] as number,
    bytes: row[i++] as number,
    chain: { n: row[i++] as number, hash: row[i++] as string },
    createdAt: row[i++] as number,
    updatedAt: row[i++] as number,
  };
  const deletedAt = row[i];
  if (deletedAt !== null) session.deletedAt = deletedAt as number;
  return session;
}

export function toFrame(row: Row, start = 0): FrameRecord {
  let i = start;
  const id = row[i++] as string;
  const session = row[i++] as string;
  const app = row[i++] as string;
  const invocation = row[i++] as string;
  const parentFrame = row[i++];
  const parentCall = row[i++];
  const kind = row[i++] as FrameRecord["kind"];
  const agent = row[i++] as string;
  const path = fromJson(row[i++]) as readonly string[];
  const branch = row[i++];
  const cursor = fromJson(row[i++]) as JsonValue;
  const status = row[i++] as FrameRecord["status"];
  const turn = row[i++] as number;
  const calls = fromJson(row[i++]) as readonly string[];
  const open = row[i++] as number;
  const frame: Writable<FrameRecord> = {
    id,
    session,
    app,
    invocation,
    kind,
    agent,
    path,
    cursor,
    status,
    turn,
    calls,
    open,
  };
  if (parentFrame !== null) frame.parentFrame = parentFrame as string;
  if (parentCall !== null) frame.parentCall = parentCall as string;
  if (branch !== null) frame.branch = branch as string;
  if (row[i] !== null) frame.owner = row[i] as string;
  if (row[i + 1] !== null) frame.output = fromJson(row[i + 1]) as JsonValue;
  if (row[i + 2] !== 0) frame.lost = row[i + 2] as number;
  return frame;
}

export function fromFrame(frame: FrameRecord): SqlValue[] {
  return [
    frame.id,
    frame.session,
    frame.app,
    frame.invocation,
    frame.parentFrame ?? null,
    frame.parentCall ?? null,
    frame.kind,
    frame.agent,
    toJson(frame.path),
    frame.branch ?? null,
    toJson(frame.cursor),
    frame.status,
    frame.turn,
    toJson(frame.calls),
    frame.open,
    frame.owner ?? null,
    toJson(frame.output),
    frame.lost ?? 0,
  ];
}

export function toCall(row: Row, start = 0): CallRecord {
  let i = start;
  const id = row[i++] as string;
  const session = row[i++] as string;
  const app = row[i++] as string;
  const frame = row[i++];
  const call: Writable<CallRecord> = {
    id,
    session,
    app,
    turn: row[i++] as number,
    ord: row[i++] as number,
    wireId: row[i++] as string,
    agent: row[i++] as string,
    tool: row[i++] as string,
    args: fromJson(row[i++]) as JsonObject,
    argsDigest: row[i++] as string,
    definitionDigest: row[i++] as string,
    secrets: fromJson(row[i++]) as readonly string[],
    repeatable: row[i++] === 1,
    unparsed: row[i++] === 1,
    status: row[i++] as CallRecord["status"],
    attempt: row[i++] as number,
    rounds: row[i + 4] as number,
    refused: row[i + 5] === 1,
  };
  if (frame !== null) call.frame = frame as string;
  if (row[i] !== null) call.owner = row[i] as string;
  if (row[i + 1] !== null) call.startedAt = row[i + 1] as number;
  if (row[i + 2] !== null) call.endedAt = row[i + 2] as number;
  if (row[i + 3] !== null) call.confirmation = row[i + 3] as string;
  if (row[i + 6] !== null) call.result = fromJson(row[i + 6]) as JsonValue;
  if (row[i + 7] !== null) call.originalArgs = fromJson(row[i + 7]) as JsonObject;
  if (row[i + 8] !== null) call.permit = row[i + 8] as string;
  if (row[i + 9] !== null) call.requesters = fromJson(row[i + 9]) as readonly string[];
  if (row[i + 10] !== 0) call.lost = row[i + 10] as number;
  return call;
}

/** As {@link STORED_CALL_COLUMNS} has them. */
export function fromCall(call: CallRecord): SqlValue[] {
  return [
    call.id,
    call.session,
    call.app,
    call.frame ?? null,
    call.turn,
    call.ord,
    call.wireId,
    call.agent,
    call.tool,
    toJson(call.args),
    call.argsDigest,
    call.definitionDigest,
    toJson(call.secrets),
    Number(call.repeatable),
    Number(call.unparsed),
    call.status,
    call.attempt,
    call.owner ?? null,
    call.startedAt ?? null,
    call.endedAt ?? null,
    call.confirmation ?? null,
    call.rounds,
    Number(call.refused),
    toJson(call.result),
    toJson(call.originalArgs),
    call.permit ?? null,
    toJson(call.requesters),
    call.lost ?? 0,
    toJson(cutValue(call.args)),
    call.result === undefined ? null : toJson(cutValue(call.result)),
  ];
}

export function toConfirmation(row: Row, start = 0): ConfirmationRecord {
  let i = start;
  const confirmation: Writable<ConfirmationRecord> = {
    id: row[i++] as string,
    call: row[i++] as string,
    round: row[i++] as number,
    session: row[i++] as string,
    app: row[i++] as string,
    agent: row[i++] as string,
    path: fromJson(row[i++]) as readonly string[],
    user: row[i++] as string,
    tool: row[i++] as string,
    requesters: fromJson(row[i++]) as readonly string[],
    approvers: fromJson(row[i++]) as ConfirmationRecord["approvers"],
    invocation: row[i++] as string,
    argsDigest: row[i++] as string,
    shown: fromJson(row[i++]) as ConfirmationRecord["shown"],
    shownVersion: row[i++] as number,
    status: row[i++] as ConfirmationRecord["status"],
    requestedAt: row[i++] as number,
    votes: fromJson(row[i + 1]) as ConfirmationRecord["votes"],
  };
  if (row[i] !== NO_DEADLINE) confirmation.expiresAt = row[i] as number;
  if (row[i + 2] !== null) confirmation.withdrawal = row[i + 2] as string;
  return confirmation;
}

/** As {@link STORED_CONFIRMATION_COLUMNS} has them. */
export function fromConfirmation(confirmation: ConfirmationRecord): SqlValue[] {
  return [
    confirmation.id,
    confirmation.call,
    confirmation.round,
    confirmation.session,
    confirmation.app,
    confirmation.agent,
    toJson(confirmation.path),
    confirmation.user,
    confirmation.tool,
    toJson(confirmation.requesters),
    toJson(confirmation.approvers),
    confirmation.invocation,
    confirmation.argsDigest,
    toJson(confirmation.shown),
    confirmation.shownVersion,
    confirmation.status,
    confirmation.requestedAt,
    confirmation.expiresAt ?? NO_DEADLINE,
    toJson(confirmation.votes),
    confirmation.withdrawal ?? null,
    toJson(viewersOf(confirmation)),
    toJson(cutShown(confirmation.shown)),
    toJson(cutVotes(confirmation.votes)),
  ];
}

export function toEvent(row: Row): StoredEvent {
  return fromJson(row[0]) as StoredEvent;
}

export function toStep(row: Row): StepRecord {
  const step: Writable<StepRecord> = {
    call: row[0] as string,
    kind: row[1] as StepRecord["kind"],
    name: row[2] as string,
    occurrence: row[3] as number,
    status: row[4] as StepRecord["status"],
  };
  if (row[5] !== null) step.digest = row[5] as string;
  if (row[6] !== null) step.value = fromJson(row[6]) as JsonValue;
  return step;
}

export function toCheckpoint(row: Row): CheckpointRecord {
  return {
    k: row[0] as number,
    lastSeq: row[1] as number,
    count: row[2] as number,
    root: row[3] as string,
    hash: row[4] as string,
    at: row[5] as number,
  };
}

export function toMemo(row: Row): Memo {
  return {
    principal: row[0] as string,
    route: row[1] as string,
    key: row[2] as string,
    requestDigest: row[3] as string,
    response: fromJson(row[4]) as JsonValue,
    expiresAt: row[5] as number,
  };
}

export function toOwner(row: Row, now: number): OwnerState {
  return {
    id: row[0] as string,
    host: row[1] as string,
    pid: row[2] as number,
    lastBeatAt: row[3] as number,
    leaseUntil: row[4] as number,
    alive: row[5] === 0 && (row[4] as number) > now,
    fenced: row[5] !== 0,
  };
}

/** From rows of: is it a call (or else a frame), its id, its attempt or turn. */
export function toHeld(rows: readonly Row[]): HeldWork {
  const calls: { readonly id: string; readonly attempt: number }[] = [];
  const frames: { readonly id: string; readonly turn: number }[] = [];
  for (const [isCall, id, turn] of rows as readonly (readonly [number, string, number])[]) {
    if (isCall === 1) calls.push({ id, attempt: turn });
    else frames.push({ id, turn });
  }
  return { calls, frames };
}
