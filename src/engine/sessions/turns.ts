import type { JsonObject, JsonValue, StoredEvent } from "../../protocol/index.ts";
import { type Claimed, permitFor } from "../calls/index.ts";
import { checkRoom, valueDigest } from "../common/index.ts";
import { cacheRest, isOurs, knownStep, stepReadyFrames, toResponse } from "../frames/index.ts";
import type { LiveTool } from "../host.ts";
import type { BodyOf } from "../journal/index.ts";
import {
  type CallRecord,
  type Committed,
  type Conflict,
  Draft,
  type EventDraft,
  type FrameRecord,
  type Judge,
  leavesToOthers,
  type Plan,
  type PolicyNote,
  type SessionRecord,
  type Snapshot,
  type StoredGrantUse,
  stateWrites,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import {
  type AskedCall,
  newConfirmation,
  type Question,
  type Reserved,
  writeQuestions,
} from "../questions/index.ts";
import { applyGrants } from "./apply-grants.ts";
import { checkFreeIds } from "./check-free-ids.ts";
import { withinLimits } from "./within-limits.ts";

/** What happens to one call of a turn. */
export type CallPlan =
  | {
      readonly kind: "run";
      readonly tool: LiveTool;
      readonly policy?: readonly PolicyNote[];
      readonly grant?: StoredGrantUse;
    }
  /** With the tool that a grant lets run. */
  | { readonly kind: "ask"; readonly question: Question; readonly tool?: LiveTool }
  /** Answered without running: a hook's answer, a deny rule, a mistake of the model. */
  | {
      readonly kind: "answer";
      readonly status: "succeeded" | "failed" | "denied";
      readonly result: JsonValue;
      readonly policy?: readonly PolicyNote[];
    };

export interface PlannedCall {
  readonly wireId: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly unparsed?: boolean;
  readonly definitionDigest: string;
  readonly secrets?: readonly string[];
  readonly repeatable?: boolean;
  readonly plan: CallPlan;
}

export interface Turn {
  readonly frame: FrameRecord;
  readonly calls: readonly CallRecord[];
  /** To be run by this process, now. */
  readonly claimed: readonly Claimed[];
  readonly asked: readonly AskedCall[];
  /** As stored, in order. */
  readonly events: readonly StoredEvent[];
}

export interface TurnInput {
  readonly event: EventDraft;
  readonly calls: readonly PlannedCall[];
  readonly stateDelta?: JsonObject;
}

/**
 * Stores a model's event with its calls: calls that need no approval are claimed, the others get a question, all in one
 * commit. Then the claimed ones start. Undefined if this process no longer owns the frame.
 */
export async function recordTurn(
  parts: EngineParts,
  step: FrameRecord,
  input: TurnInput,
): Promise<Turn | undefined> {
  const known = knownStep(parts, step);
  const judging =
    (reserved: Reserved): Judge<Committed<Turn> | undefined> =>
    async (snapshot, last) => {
      // The lease expired before the turn was stored: recovery steps the frame again.
      if (last === "owner" || !isOurs(snapshot, step)) return { value: undefined };
      const { session, now, frame } = snapshot;
      // The ids were chosen for the session as it is known here; others may have used one since.
      if (snapshot !== known?.snapshot) await checkFreeIds(parts.ledger, session.key, input.calls);
      const draft = new Draft(parts, now, session);
      draft.event(input.event);
      for (const write of stateWrites(input.stateDelta)) draft.write(write);
      const granted = await applyGrants(parts, draft, { frame, calls: input.calls });
      const calls = await withinLimits(parts, { session, reserved }, granted);
      const record = writeTurn(parts, draft, { session, frame, calls, last });
      // Its calls may not start now. Nothing of the turn is stored, and the same step is taken later.
      if (last === "suspended" && record.claimed.length > 0) return yieldStep(parts, snapshot);
      checkRoom(parts, draft);
      return { draft, reserved, value: { record, draft } };
    };
  const turn = await parts.quota.during((reserved) =>
    transact(parts, { frame: step.id }, judging(reserved), known),
  );
  if (turn !== undefined) await goOn(parts, turn);
  return turn?.record;
}

function yieldStep(
  parts: EngineParts,
  { session, now, frame }: Snapshot & { readonly frame: FrameRecord },
): Plan<undefined> {
  const draft = new Draft(parts, now, session);
  draft.moveFrame(frame, "yield", { owner: null });
  return { draft, value: undefined };
}

async function goOn(parts: EngineParts, { record, draft }: Committed<Turn>): Promise<void> {
  const { frame, claimed, asked } = record;
  for (const one of claimed) parts.executions.start(one);
  for (const one of asked) parts.hosts.get(frame.app)?.asked?.(one);
  if (frame.status !== "waiting") return;
  if (claimed.length === 0) cacheRest(parts, frame, { draft, asked });
  await stepReadyFrames(parts, frame.session, draft);
}

interface TurnScene {
  readonly session: SessionRecord;
  readonly frame: FrameRecord;
  readonly calls: readonly PlannedCall[];
  readonly last: Conflict | undefined;
}

function writeTurn(parts: EngineParts, draft: Draft, scene: TurnScene): Turn {
  const { frame } = scene;
  const { calls, claimed, asked, answered, notes } = sortCalls(parts, draft, scene);
  for (const call of calls) draft.insertCall(call);
  if (claimed.length > 0)
    draft.claimedBy(frame.owner ?? "").journal("calls-started", startedBody(claimed, notes));
  if (claimed.some(({ call }) => !call.repeatable)) draft.sync();
  if (answered.length > 0) draft.journal("calls-answered", answeredBody(answered, notes));
  for (const { call, result } of answered) draft.event(responseEvent(frame, call, result));
  writeQuestions(draft, frame, asked);
  const open = claimed.length + asked.length;
  const told = frame.lost === undefined ? {} : { lost: 0 };
  const update = { calls: calls.map(({ id }) => id), open, turn: frame.turn + 1, ...told };
  const after =
    open === 0 ? stepAgain(draft, scene, update) : draft.moveFrame(frame, "wait", { ...update, owner: null });
  const running = claimed.map((one) => ({ ...one, frame: after }));
  return { frame: after, calls, claimed: running, asked, events: draft.events };
}

/** Nothing is open: this process takes the next step, unless none may start now. */
function stepAgain(
  draft: Draft,
  { frame, last }: TurnScene,
  update: Parameters<Draft["changeFrame"]>[1],
): FrameRecord {
  if (leavesToOthers(last)) return draft.moveFrame(frame, "yield", { ...update, owner: null });
  return draft.willStep(draft.claimedBy(frame.owner ?? "").changeFrame(frame, update));
}

interface SortedCalls extends Pick<Turn, "calls" | "claimed" | "asked"> {
  readonly answered: readonly AnsweredCall[];
  readonly notes: Notes;
}

interface AnsweredCall {
  readonly call: CallRecord;
  readonly result: JsonValue;
}

/** Which rules applied to calls that nobody is asked about, by the call's id. */
type Notes = ReadonlyMap<string, readonly PolicyNote[]>;

/** A turn's calls by what happens to them, each list in the model's order. */
function sortCalls(
  parts: EngineParts,
  draft: Draft,
  { session, frame, calls: planned }: TurnScene,
): SortedCalls {
  const calls: CallRecord[] = [];
  const claimed: Claimed[] = [];
  const asked: AskedCall[] = [];
  const answered: AnsweredCall[] = [];
  const notes = new Map<string, readonly PolicyNote[]>();
  const { owner = "" } = frame;
  const { now } = draft;
  for (const [ord, one] of planned.entries()) {
    const call = newCall(parts, now, { frame, planned: one, ord });
    const { plan } = one;
    if (plan.kind === "ask") {
      const confirmation = newConfirmation(parts, now, { session, call, frame, question: plan.question });
      const asking = { ...call, confirmation: confirmation.id, rounds: 1 };
      asked.push({ call: asking, confirmation, policy: plan.question.policy });
      calls.push(asking);
      continue;
    }
    calls.push(call);
    if (plan.policy !== undefined) notes.set(call.id, plan.policy);
    if (plan.kind === "answer") answered.push({ call, result: plan.result });
    else claimed.push({ session, call, confirmation: undefined, frame, tool: plan.tool, owner, draft });
  }
  return { calls, claimed, asked, answered, notes };
}

function newCall(
  parts: EngineParts,
  now: number,
  {
    frame,
    planned,
    ord,
  }: { readonly frame: FrameRecord; readonly planned: PlannedCall; readonly ord: number },
): CallRecord {
  const { plan } = planned;
  const call = {
    id: `${frame.session}.${planned.wireId}`,
    session: frame.session,
    app: frame.app,
    frame: frame.id,
    turn: frame.turn + 1,
    ord,
    wireId: planned.wireId,
    agent: frame.agent,
    tool: planned.tool,
    args: planned.args,
    unparsed: planned.unparsed ?? false,
    argsDigest: valueDigest(parts.ledger.digestKey, planned.args),
    definitionDigest: planned.definitionDigest,
    ...(frame.requesters === undefined ? {} : { requesters: frame.requesters }),
    secrets: planned.secrets ?? [],
    repeatable: planned.repeatable ?? false,
    attempt: 0,
    rounds: 0,
    refused: false,
  };
  if (plan.kind === "ask") return { ...call, status: "waiting" };
  if (plan.kind === "answer") return { ...call, status: plan.status, result: plan.result, endedAt: now };
  const running: CallRecord = {
    ...call,
    status: "executing",
    attempt: 1,
    startedAt: now,
    ...permission(parts, call, plan.grant),
  };
  return frame.owner === undefined ? running : { ...running, owner: frame.owner };
}

function permission(
  parts: EngineParts,
  call: Pick<CallRecord, "id" | "tool" | "argsDigest">,
  grant: StoredGrantUse | undefined,
): Pick<CallRecord, "permit" | "grant"> {
  if (grant === undefined) return { permit: permitFor(parts, call) };
  return { permit: permitFor(parts, { ...call, grant }), grant };
}

function responseEvent(frame: FrameRecord, call: CallRecord, result: JsonValue): EventDraft {
  return {
    author: frame.agent,
    invocationId: frame.invocation,
    ...(frame.branch === undefined ? {} : { branch: frame.branch }),
    content: {
      role: "user",
      parts: [{ functionResponse: { id: call.wireId, name: call.tool, response: toResponse(result) } }],
    },
  };
}

// Answered without running: by a rule or a hook, or because of a mistake of the model. Journalled like everything else.
function answeredBody(answered: readonly AnsweredCall[], notes: Notes): BodyOf<"calls-answered"> {
  return {
    calls: answered.map(({ call: { id, tool, status, argsDigest } }) => ({
      call: id,
      tool,
      status,
      argsDigest,
      ...noteOn(id, notes),
    })),
  };
}

function noteOn(call: string, notes: Notes): { readonly policy?: readonly PolicyNote[] } {
  const policy = notes.get(call);
  return policy === undefined ? {} : { policy };
}

function startedBody(claimed: readonly Claimed[], notes: Notes): BodyOf<"calls-started"> {
  return {
    owner: claimed[0]?.owner ?? "",
    calls: claimed.map(({ call }) => ({
      call: call.id,
      tool: call.tool,
      attempt: call.attempt,
      argsDigest: call.argsDigest,
      ...noteOn(call.id, notes),
    })),
  };
}
