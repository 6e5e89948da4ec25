import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { type Claimed, permitFor } from "../calls/index.ts";
import { valueDigest } from "../common/index.ts";
import type { LiveTool } from "../host.ts";
import {
  type CallRecord,
  Draft,
  type Plan,
  type SessionName,
  type Shown,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Principal } from "../people/index.ts";
import { newConfirmation, writeQuestions } from "../questions/index.ts";

/** A call of a gated function, about to be opened under its key. */
export interface GateCallInput {
  readonly session: SessionName;
  readonly tool: string;
  readonly args: JsonObject;
  readonly unparsed: boolean;
  readonly definitionDigest: string;
  readonly secrets: readonly string[];
  readonly repeatable: boolean;
  readonly live: LiveTool;
  readonly by: Principal;
  /** What to put before a person; without it the call runs at once. */
  readonly shown?: Shown;
}

export interface OpenedGateCall {
  readonly callId: string;
  /** To be run by this process, now. */
  readonly claimed?: Claimed;
}

/** Opens the call, or finds the one that has this key already. One key is one call, whoever uses it. */
export async function openGateCall(parts: EngineParts, input: GateCallInput): Promise<OpenedGateCall> {
  const argsDigest = valueDigest(parts.ledger.digestKey, input.args);
  return transact<OpenedGateCall>(parts, { session: input.session }, async (snapshot) => {
    if (snapshot === undefined) return planNew(parts, input, argsDigest);
    const callId = `${snapshot.session.key}.${input.session.id}`;
    const [known] = await parts.ledger.calls([callId]);
    const same = known?.tool === input.tool && askedDigest(parts, known) === argsDigest;
    if (same) return { value: { callId } };
    const { tool = input.tool } = known ?? {};
    const what = tool === input.tool ? `${tool} with other arguments` : tool;
    throw new CountersignError("key-reused", `The key ${input.session.id} was used for ${what}.`);
  });
}

// After an amendment `args` are the approver's; the key belongs to those that opened the call.
function askedDigest(parts: EngineParts, call: CallRecord): string {
  const { originalArgs } = call;
  return originalArgs === undefined ? call.argsDigest : valueDigest(parts.ledger.digestKey, originalArgs);
}

async function planNew(
  parts: EngineParts,
  input: GateCallInput,
  argsDigest: string,
): Promise<Plan<OpenedGateCall>> {
  const { now } = parts.ledger;
  const draft = new Draft(parts, now, { key: parts.newId(now), create: input.session });
  const call = newCall(draft.sessionKey, input, argsDigest);
  return input.shown === undefined
    ? planRun(draft, {
        call: { ...call, permit: permitFor(parts, call) },
        input,
        owner: await parts.lease.hold(),
      })
    : planQuestion(parts, draft, { call, input, shown: input.shown });
}

function planRun(
  draft: Draft,
  {
    call,
    input,
    owner,
  }: { readonly call: CallRecord; readonly input: GateCallInput; readonly owner: string },
): Plan<OpenedGateCall> {
  const running: CallRecord = { ...call, status: "executing", attempt: 1, owner, startedAt: draft.now };
  draft.claimedBy(owner).insertCall(running);
  if (!running.repeatable) draft.sync();
  const { id, tool, attempt, argsDigest } = running;
  draft.journal("call-started", { call: id, tool, attempt, owner, argsDigest, by: input.by.id });
  const session = { key: draft.sessionKey, ...input.session };
  const claimed = {
    session,
    call: running,
    confirmation: undefined,
    frame: undefined,
    tool: input.live,
    owner,
  };
  return { draft, value: { callId: id, claimed } };
}

function planQuestion(
  parts: EngineParts,
  draft: Draft,
  { call, input, shown }: { readonly call: CallRecord; readonly input: GateCallInput; readonly shown: Shown },
): Plan<OpenedGateCall> {
  const { approvers, expiresInMs } = input.live.asking;
  const requesters = requestersOf(input.by);
  const confirmation = newConfirmation(parts, draft.now, {
    session: { app: input.session.app, user: requesters.at(-1) ?? "" },
    call,
    frame: undefined,
    question: { shown, approvers, requesters, ...(expiresInMs === undefined ? {} : { expiresInMs }) },
  });
  const waiting: CallRecord = { ...call, confirmation: confirmation.id, rounds: 1 };
  draft.insertCall(waiting);
  writeQuestions(draft, undefined, [{ call: waiting, confirmation }]);
  return { draft, value: { callId: call.id } };
}

function requestersOf({ id, onBehalfOf }: Principal): readonly string[] {
  return onBehalfOf === undefined ? [id] : [id, onBehalfOf];
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
    tool: input.tool,
    args: input.args,
    unparsed: input.unparsed,
    argsDigest,
    definitionDigest: input.definitionDigest,
    requesters: requestersOf(input.by),
    secrets: input.secrets,
    repeatable: input.repeatable,
    status: "waiting",
    attempt: 0,
    rounds: 0,
    refused: false,
  };
}
