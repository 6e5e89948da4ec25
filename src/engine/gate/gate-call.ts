import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { type Claimed, permitFor } from "../calls/index.ts";
import { valueDigest } from "../common/index.ts";
import { useGrant } from "../grants/index.ts";
import type { BodyOf } from "../journal/index.ts";
import {
  type CallRecord,
  Draft,
  isShared,
  type Judge,
  type Plan,
  type SessionName,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { askerOf, type Principal } from "../people/index.ts";
import {
  forOneCall,
  newConfirmation,
  type Question,
  type Reserved,
  writeQuestions,
} from "../questions/index.ts";
import type { CallPlan } from "../sessions/index.ts";
import type { GatedTool } from "./gated-tool.ts";

/** A call of a gated function, about to be opened under its key. */
export interface GateCallInput {
  readonly session: SessionName;
  readonly tool: GatedTool;
  readonly args: JsonObject;
  readonly unparsed: boolean;
  readonly definitionDigest: string;
  readonly requesters: readonly string[];
  readonly by: Principal;
  /** The gate's ruling. */
  readonly plan: CallPlan;
}

export interface OpenedGateCall {
  readonly callId: string;
  /** To be run by this process, now. */
  readonly claimed?: Claimed;
}

/** Opens the call, or finds the one that already has this key. One key is one call, for all callers. */
export async function openGateCall(parts: EngineParts, input: GateCallInput): Promise<OpenedGateCall> {
  const argsDigest = valueDigest(parts.ledger.digestKey, input.args);
  const opening =
    (reserved: Reserved): Judge<OpenedGateCall> =>
    async (snapshot) => {
      if (snapshot === undefined)
        return { ...(await planNew(parts, input, { argsDigest, reserved })), reserved };
      if (snapshot.session.pruned !== undefined) throw prunedKey(input.session.id);
      const callId = `${snapshot.session.key}.${input.session.id}`;
      const [known] = await parts.ledger.calls([callId]);
      const same = known?.tool === input.tool.name && askedDigest(parts, known) === argsDigest;
      if (same) return { value: { callId } };
      const { tool = input.tool.name } = known ?? {};
      const what = tool === input.tool.name ? `${tool} with different arguments` : tool;
      throw new CountersignError("key-reused", `The key ${input.session.id} was already used for ${what}.`);
    };
  return parts.quota.during((reserved) => transact(parts, { session: input.session }, opening(reserved)));
}

function prunedKey(key: string): CountersignError {
  const message = `The key ${key} was already used for a call that was pruned because of its age. Use a new key for a new call.`;
  return new CountersignError("key-reused", message);
}

// After an amendment `args` are the approver's; the key belongs to the original arguments.
function askedDigest(parts: EngineParts, call: CallRecord): string {
  const { originalArgs } = call;
  return originalArgs === undefined ? call.argsDigest : valueDigest(parts.ledger.digestKey, originalArgs);
}

async function planNew(
  parts: EngineParts,
  input: GateCallInput,
  { argsDigest, reserved }: { readonly argsDigest: string; readonly reserved: Reserved },
): Promise<Plan<OpenedGateCall>> {
  const admitting = parts.quota.admit(reserved, { isNew: true });
  if (admitting !== undefined) await admitting;
  const { now } = parts.ledger;
  const draft = new Draft(parts, now, { key: parts.newId(now), create: input.session });
  const call = newCall(draft.sessionKey, input, argsDigest);
  const plan = mayBeGranted(input.plan)
    ? await underGrant(parts, draft, { call, plan: input.plan })
    : input.plan;
  if (plan.kind === "answer") return planAnswer(draft, call, plan);
  if (plan.kind === "ask") {
    await parts.quota.admitQuestion(reserved);
    return planQuestion(parts, draft, { call, question: plan.question });
  }
  const granted = plan.grant === undefined ? call : { ...call, grant: plan.grant };
  const permitted = { ...granted, permit: permitFor(parts, granted) };
  return planRun(draft, { call: permitted, input, plan, owner: await parts.lease.hold() });
}

type Asking = Extract<CallPlan, { kind: "ask" }>;

/** Would people be asked, and may they have granted it across sessions? A session of one call has no other grants. */
function mayBeGranted(plan: CallPlan): plan is Asking {
  return plan.kind === "ask" && isShared(plan.question.grants);
}

async function underGrant(
  parts: EngineParts,
  draft: Draft,
  { call, plan }: { readonly call: CallRecord; readonly plan: Asking },
): Promise<CallPlan> {
  const { tool, question } = plan;
  const grant = tool && (await useGrant(parts, draft, { call, question }));
  if (tool === undefined || grant === undefined) return plan;
  const { policy } = question;
  return { kind: "run", tool, grant, ...(policy === undefined ? {} : { policy }) };
}

interface NewRun {
  readonly call: CallRecord;
  readonly input: GateCallInput;
  readonly plan: Extract<CallPlan, { kind: "run" }>;
  readonly owner: string;
}

function planRun(draft: Draft, { call, input, plan, owner }: NewRun): Plan<OpenedGateCall> {
  const running: CallRecord = { ...call, status: "executing", attempt: 1, owner, startedAt: draft.now };
  draft.claimedBy(owner).insertCall(running);
  if (!running.repeatable) draft.sync();
  const { id, tool, attempt, argsDigest } = running;
  draft.journal("call-started", {
    call: id,
    tool,
    attempt,
    owner,
    argsDigest,
    by: input.by.id,
    ...notedIn(plan),
  });
  const session = { key: draft.sessionKey, ...input.session };
  const claimed = {
    session,
    call: running,
    confirmation: undefined,
    frame: undefined,
    tool: plan.tool,
    owner,
  };
  return { draft, value: { callId: id, claimed } };
}

function planQuestion(
  parts: EngineParts,
  draft: Draft,
  { call, question: asked }: { readonly call: CallRecord; readonly question: Question },
): Plan<OpenedGateCall> {
  const question = forOneCall(asked);
  const confirmation = newConfirmation(parts, draft.now, {
    session: { app: call.app, user: question.requesters.at(-1) ?? "" },
    call,
    frame: undefined,
    question,
  });
  const waiting: CallRecord = { ...call, confirmation: confirmation.id, rounds: 1 };
  draft.insertCall(waiting);
  writeQuestions(draft, undefined, [{ call: waiting, confirmation, policy: question.policy }]);
  return { draft, value: { callId: call.id } };
}

// A policy forbids it. It is stored, so that its key always gets this answer.
function planAnswer(
  draft: Draft,
  call: CallRecord,
  plan: Extract<CallPlan, { kind: "answer" }>,
): Plan<OpenedGateCall> {
  const { status, result } = plan;
  draft.insertCall({ ...call, status, result, endedAt: draft.now });
  const { id, tool, argsDigest } = call;
  draft.journal("calls-answered", { calls: [{ call: id, tool, status, argsDigest, ...notedIn(plan) }] });
  return { draft, value: { callId: id } };
}

function notedIn({ policy }: Exclude<CallPlan, { kind: "ask" }>): Pick<BodyOf<"call-started">, "policy"> {
  return policy === undefined ? {} : { policy };
}

function newCall(session: string, input: GateCallInput, argsDigest: string): CallRecord {
  return {
    id: `${session}.${input.session.id}`,
    session,
    app: input.session.app,
    turn: 0,
    ord: 0,
    wireId: input.session.id,
    agent: input.session.app,
    tool: input.tool.name,
    args: input.args,
    unparsed: input.unparsed,
    argsDigest,
    definitionDigest: input.definitionDigest,
    requesters: input.requesters,
    asker: askerOf(input.by),
    secrets: input.tool.secrets,
    repeatable: input.tool.repeatable,
    status: "waiting",
    attempt: 0,
    rounds: 0,
    refused: false,
  };
}
