import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { checkRoom } from "../common/index.ts";
import {
  afterCommit,
  type Conflict,
  Draft,
  type EventDraft,
  type FrameKind,
  type FrameRecord,
  type Judge,
  type Known,
  leavesToOthers,
  type Snapshot,
  stateWrites,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { writeAnswer, writeProgress } from "./answer.ts";
import { cacheRest, stepReadyFrames } from "./continue-session.ts";

/** One agent to be activated. */
export interface FrameInput {
  readonly id: string;
  readonly kind: FrameKind;
  readonly agent: string;
  readonly path: readonly string[];
  readonly branch?: string;
  /** The parent frame; for the first frame of a run, the run. */
  readonly parent: Pick<FrameRecord, "session" | "app" | "invocation"> &
    Partial<Pick<FrameRecord, "id" | "requesters" | "asker">>;
}

/** Starts with the session's key, so that a session's frames are stored together and need no index. */
export function newFrameId({ newId }: EngineParts, session: string, now: number): string {
  return `${session}.${newId(now)}`;
}

/** A frame before its first step. */
export function newFrame({ parent, ...input }: FrameInput): FrameRecord {
  return {
    ...input,
    session: parent.session,
    app: parent.app,
    invocation: parent.invocation,
    ...(parent.id === undefined ? {} : { parentFrame: parent.id }),
    ...askedBy(parent),
    cursor: null,
    status: "stepping",
    turn: 0,
    calls: [],
    open: 0,
  };
}

/** For whom a frame acts: what all frames of a run have in common. */
export function askedBy({ requesters, asker }: Asked): Asked {
  return {
    ...(requesters === undefined ? {} : { requesters }),
    ...(asker === undefined ? {} : { asker }),
  };
}

type Asked = Pick<FrameRecord, "requesters" | "asker">;

/** Is this frame still stepping, with the same owner and turn, in a session that exists? */
export function isOurs(
  snapshot: Snapshot | undefined,
  step: FrameRecord,
): snapshot is Snapshot & { frame: FrameRecord } {
  const frame = snapshot?.frame;
  if (snapshot?.session.deletedAt !== undefined) return false;
  return frame?.status === "stepping" && frame.owner === step.owner && frame.turn === step.turn;
}

/** How a frame ends. */
export interface FrameEnd {
  readonly event?: EventDraft;
  readonly status: "done" | "failed" | "cancelled";
  /** What the agent returns to its caller. */
  readonly output?: JsonValue;
  readonly stateDelta?: JsonObject;
  /** Merged into the parent frame's cursor. */
  readonly parentCursor?: JsonObject;
  /** A handoff: this agent replaces the frame. */
  readonly successor?: Pick<FrameInput, "kind" | "agent" | "path"> & {
    readonly cursor?: JsonObject;
  };
}

interface Finished {
  readonly ok: boolean;
  /** Claimed here for its next step: the parent, or the successor. */
  readonly stepping?: FrameRecord;
  /** What was committed. */
  readonly draft?: Draft;
}

const END_COMMANDS = { done: "finish", failed: "fail", cancelled: "cancel" } as const;

/**
 * Ends a frame in one commit with what follows from it: the answer of the call that waited for it, its parent's
 * progress, or the frame that takes its place. Then it continues with that, and with frames of the session that became
 * ready meanwhile. False if this process no longer owned the frame.
 */
export async function finishFrame(parts: EngineParts, step: FrameRecord, end: FrameEnd): Promise<boolean> {
  const judge: Judge<Finished> = async (snapshot, last) => {
    if (!isOurs(snapshot, step)) return { value: { ok: false } };
    const { frame } = snapshot;
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    if (end.event !== undefined) draft.event(end.event);
    // A failure can always be stored.
    if (end.event?.content !== undefined) checkRoom(parts, draft);
    for (const write of stateWrites(end.stateDelta)) draft.write(write);
    const output = end.output === undefined ? {} : { output: end.output };
    draft.moveFrame(frame, END_COMMANDS[end.status], { owner: null, ...output });
    const stepping =
      end.successor === undefined
        ? await writeReturn(parts, draft, { frame, end, last })
        : await writeSuccessor(parts, draft, { frame, successor: end.successor, last });
    return { draft, value: { ok: true, draft, ...(stepping === undefined ? {} : { stepping }) } };
  };
  const finished = await transact(parts, { frame: step.id }, judge, knownStep(parts, step));
  const { ok, stepping, draft } = finished;
  if (stepping !== undefined) parts.executions.step(stepping);
  else if (end.successor === undefined) cacheRest(parts, step, { draft, asked: [] });
  await stepReadyFrames(parts, step.session, draft);
  return ok;
}

/** What this process knows about a frame that it steps. */
export function knownStep(parts: EngineParts, frame: FrameRecord): Known | undefined {
  const known = afterCommit(parts, parts.executions.takeStep(frame)?.draft);
  return known && { snapshot: { ...known, frame } };
}

async function writeSuccessor(
  parts: EngineParts,
  draft: Draft,
  {
    frame,
    successor,
    last,
  }: Pick<Return, "frame" | "last"> & { readonly successor: NonNullable<FrameEnd["successor"]> },
): Promise<FrameRecord | undefined> {
  const owner = await ownerOfNew(parts, draft, last);
  const { parentFrame, parentCall, branch } = frame;
  const { cursor = {}, ...agent } = successor;
  const next: FrameRecord = {
    ...newFrame({
      ...agent,
      id: newFrameId(parts, frame.session, draft.now),
      ...(branch === undefined ? {} : { branch }),
      parent: { session: frame.session, app: frame.app, invocation: frame.invocation, ...askedBy(frame) },
    }),
    ...(parentFrame === undefined ? {} : { parentFrame }),
    ...(parentCall === undefined ? {} : { parentCall }),
    cursor,
    ...firstStatus(owner),
  };
  draft.insertFrame(next);
  return owner === undefined ? undefined : next;
}

/** Claims new frames for this process; undefined if a process that may step them later must take them. */
async function ownerOfNew(
  parts: EngineParts,
  draft: Draft,
  last: Conflict | undefined,
): Promise<string | undefined> {
  if (leavesToOthers(last)) return undefined;
  const owner = await parts.lease.hold();
  draft.claimedBy(owner);
  return owner;
}

function firstStatus(owner: string | undefined): Pick<FrameRecord, "status" | "owner"> {
  return owner === undefined ? { status: "ready" } : { status: "stepping", owner };
}

interface Return {
  readonly frame: FrameRecord;
  readonly end: FrameEnd;
  readonly last: Conflict | undefined;
}

// This may be newer than the snapshot that the commit is based on; then the commit is refused.
async function writeReturn(
  parts: EngineParts,
  draft: Draft,
  returning: Return,
): Promise<FrameRecord | undefined> {
  const { parentFrame, parentCall } = returning.frame;
  if (parentFrame === undefined) return undefined;
  const owner = await parts.lease.hold();
  if (parentCall !== undefined) return answerParent(parts, draft, { ...returning, parentCall, owner });
  const parent = (await parts.ledger.load({ frame: parentFrame }))?.frame;
  if (parent?.status !== "waiting") return undefined;
  const { last } = returning;
  const cursor = returning.end.parentCursor;
  return writeProgress(parts, draft, {
    frame: parent,
    owner,
    last,
    ...(cursor === undefined ? {} : { cursor }),
  });
}

async function answerParent(
  parts: EngineParts,
  draft: Draft,
  { frame, end, last, parentCall, owner }: Return & { readonly parentCall: string; readonly owner: string },
): Promise<FrameRecord | undefined> {
  const held = await parts.ledger.load({ call: parentCall });
  const { call } = held ?? {};
  if (held === undefined || call?.status !== "suspended") return undefined;
  const done = end.status === "done";
  const result = end.output ?? (done ? null : { error: `the agent ${frame.agent} ${end.status}` });
  const command = done ? "return" : "return-failed";
  draft.journal("call-returned", { call: call.id, tool: call.tool, status: end.status });
  return writeAnswer(parts, draft, { call, frame: held.frame, command, result, owner, last }).stepping;
}

/** A child of a sequence, a loop or a parallel group. */
export type ChildInput = Pick<FrameInput, "kind" | "agent" | "path" | "branch">;

export interface SpawnInput {
  readonly children: readonly ChildInput[];
  readonly cursor: JsonObject;
  readonly stateDelta?: JsonObject;
}

/**
 * Starts child frames of a frame, which waits for all of them, and steps them here if they may start now. False if this process no longer
 * owns the frame.
 */
export async function spawnFrames(
  parts: EngineParts,
  step: FrameRecord,
  { children, cursor, stateDelta }: SpawnInput,
): Promise<boolean> {
  const spawned = await transact<readonly FrameRecord[] | undefined>(
    parts,
    { frame: step.id },
    async (snapshot, last) => {
      if (!isOurs(snapshot, step)) return { value: undefined };
      const { frame, now, session } = snapshot;
      const draft = new Draft(parts, now, session);
      const owner = await ownerOfNew(parts, draft, last);
      const made = children.map((child) => ({
        ...newFrame({ ...child, id: newFrameId(parts, frame.session, now), parent: frame }),
        ...firstStatus(owner),
      }));
      const update = {
        owner: null,
        open: made.length,
        turn: frame.turn + 1,
        cursor: {
          ...(isJsonObject(frame.cursor) ? frame.cursor : {}),
          ...cursor,
          children: made.map(({ id }) => id),
        },
      };
      for (const write of stateWrites(stateDelta)) draft.write(write);
      draft.moveFrame(frame, "wait", update);
      for (const child of made) draft.insertFrame(child);
      return { draft, value: made };
    },
  );
  for (const child of spawned ?? []) if (child.owner !== undefined) parts.executions.step(child);
  await stepReadyFrames(parts, step.session);
  return spawned !== undefined;
}
