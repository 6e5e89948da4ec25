import {
  type CallRecord,
  errorText,
  type FrameEnd,
  type FrameRecord,
  finishFrame,
  isLedgerAway,
  type Ledger,
  type PlannedCall,
  recordTurn,
  withoutTemporary,
} from "../../engine/index.ts";
import { CountersignError, type JsonObject, type Part } from "../../protocol/index.ts";
import {
  type Agent,
  declarationsOf,
  firstValue,
  hookContextFor,
  instructionFor,
  notesOf,
  requestersOf,
  tellParent,
  toolsOf,
} from "../agents/index.ts";
import { type IdentifiedCall, planCalls, type StepScene } from "../calls/index.ts";
import {
  buildPrompt,
  deniedCalls,
  LONGEST_CALL_ID,
  type Prompt,
  spokenText,
  UsedIds,
} from "../history/index.ts";
import { askModel, checkSize, type ModelChunk, type ModelRequest } from "../models/index.ts";
import type { RunContext } from "../run-context.ts";
import type { State, Tool } from "../tools/index.ts";
import { failureOf } from "./failure.ts";

/** One model step of an agent: ask, store the answer, start calls that may run. Repeats until something waits. */
export async function stepLlm(run: RunContext, agent: Agent, first: FrameRecord): Promise<void> {
  for (let frame = first; ; ) {
    const { transferTo, done } = notesOf(frame);
    if (transferTo !== undefined) return handOver(run, frame, transferTo);
    if (done === true) return finish(run, frame, { status: "done", ...tellParent(frame, escalation(frame)) });
    const next = await stepOrFail(run, agent, frame);
    // Anything but stepping: it ended, it waits for answers, or it is no longer ours.
    if (next?.status !== "stepping") return;
    frame = next;
  }
}

// If a hook or a toolset throws, the frame ends; otherwise it would stay under our lease and no process would continue
// it.
async function stepOrFail(
  run: RunContext,
  agent: Agent,
  frame: FrameRecord,
): Promise<FrameRecord | undefined> {
  try {
    return await stepOnce(run, agent, frame);
  } catch (error) {
    // The step is taken again when the ledger answers.
    if (isLedgerAway(error)) throw error;
    const code = CountersignError.isInstance(error) ? error.code : "internal";
    return finish(run, frame, failureOf(frame, code, errorText(error)));
  }
}

async function stepOnce(run: RunContext, agent: Agent, frame: FrameRecord): Promise<FrameRecord | undefined> {
  const ctx = await hookContextFor(run, agent, frame);
  if (ctx === undefined) return undefined;
  if (modelCalls(frame) >= run.settings.maxModelCalls) return finish(run, frame, exhausted(run, frame));
  const instead =
    frame.turn === 0 ? await firstValue([run.hooks, agent.hooks], "beforeAgent", { ctx }) : undefined;
  if (instead !== undefined) {
    checkSize(instead.parts, run.settings.maxModelBytes);
    return finish(run, frame, spoken({ agent, frame, state: ctx.state }, { parts: instead.parts }));
  }
  return think({ run, agent, frame, ctx });
}

type Thinking = Pick<StepScene, "run" | "agent" | "frame" | "ctx">;

/** Asks the model and acts on what it says. */
async function think(about: Thinking): Promise<FrameRecord | undefined> {
  const { run, agent, frame, ctx } = about;
  const tools = await toolsOf(agent, run.agents);
  const prompt = await buildPrompt(run.parts, frame);
  const chunk = await askModel({
    ...about,
    after: prompt.events,
    request: await requestFor(about, prompt, tools),
  });
  if (chunk.errorCode !== undefined) return finish(run, frame, failed(frame, chunk));
  const { parts, calls } = identify(run, prompt, chunk.parts);
  if (calls.length === 0) {
    const instead = await firstValue([run.hooks, agent.hooks], "afterAgent", { ctx });
    if (instead !== undefined) checkSize(instead.parts, run.settings.maxModelBytes);
    return finish(
      run,
      frame,
      spoken({ agent, frame, state: ctx.state }, { ...chunk, parts: instead?.parts ?? parts }),
    );
  }
  const planned = await planCalls(await sceneFor({ ...about, tools }, prompt), calls);
  return record(about, { ...chunk, parts }, planned);
}

async function record(
  about: Pick<Thinking, "run" | "frame" | "ctx">,
  chunk: ModelChunk,
  calls: readonly PlannedCall[],
): Promise<FrameRecord | undefined> {
  const { run, frame, ctx } = about;
  const { engine } = run;
  const stateDelta = ctx.state.delta();
  const event = eventOf(frame, chunk, stateDelta);
  try {
    return (await recordTurn(run.parts, frame, { event, calls, stateDelta }))?.frame;
  } catch (error) {
    // Another branch may have used one of our ids since the prompt was read; then we choose another.
    const taken = await engine.ledger.calls(calls.map(({ wireId }) => `${frame.session}.${wireId}`));
    if (taken.length === 0) throw error;
    const names = new Map(taken.map(({ wireId }) => [wireId, `adk-${run.newId()}`]));
    const others = calls.map((call) => ({ ...call, wireId: names.get(call.wireId) ?? call.wireId }));
    return record(about, renamed(chunk, names), others);
  }
}

function renamed(chunk: ModelChunk, names: ReadonlyMap<string, string>): ModelChunk {
  const parts = chunk.parts.map((part) => {
    const id = names.get(part.functionCall?.id ?? "");
    return part.functionCall === undefined || id === undefined
      ? part
      : { ...part, functionCall: { ...part.functionCall, id } };
  });
  return { ...chunk, parts };
}

async function requestFor(
  { agent, ctx }: Thinking,
  prompt: Prompt,
  tools: ReadonlyMap<string, Tool>,
): Promise<ModelRequest> {
  const instruction = await instructionFor(agent, ctx);
  return {
    contents: prompt.contents,
    tools: declarationsOf(tools),
    ...(instruction === "" ? {} : { instruction }),
    ...(agent.generateContentConfig === undefined ? {} : { config: agent.generateContentConfig }),
  };
}

async function sceneFor(
  base: Pick<StepScene, "run" | "agent" | "frame" | "ctx"> & { readonly tools: ReadonlyMap<string, Tool> },
  prompt: Prompt,
): Promise<StepScene> {
  const { ledger } = base.run.engine;
  return {
    ...base,
    requesters: requestersOf(base.frame, base.ctx.userId),
    open: await openCallsBeside(ledger, base.frame, prompt),
    denied: await deniedCalls(ledger, base.frame, prompt),
  };
}

/** Calls of the session that wait for a person. Read now, because the model may have taken long. */
async function openCallsBeside(
  ledger: Ledger,
  { session, branch }: FrameRecord,
  { hasOpenCalls }: Prompt,
): Promise<readonly CallRecord[]> {
  // Nothing waited when the prompt was read, and outside of branches nothing else asks meanwhile. At worst, a branch of
  // an earlier message asks for the same call: then there are two questions.
  if (!hasOpenCalls && branch === undefined) return [];
  const { open = 0 } = (await ledger.load({ sessionKey: session }))?.session ?? {};
  if (open === 0) return [];
  return (await ledger.confirmations({ state: "open", session }, { limit: open })).items.map(
    ({ call }) => call,
  );
}

// Reserved prefix: a call with such an id could be taken for the confirmation of another.
const OWN_ID = /^adk-/;

// Not every ledger can store a NUL.
function isUsable(id: string): boolean {
  return id !== "" && id.length <= LONGEST_CALL_ID && !OWN_ID.test(id) && !id.includes("\0");
}

/** Gives every call an id that the session has not used. Function responses from a model are removed. */
function identify(
  run: RunContext,
  prompt: Prompt,
  said: readonly Part[],
): { readonly parts: readonly Part[]; readonly calls: readonly IdentifiedCall[] } {
  const { usedIds } = prompt;
  const given = new UsedIds();
  const calls: IdentifiedCall[] = [];
  const own = said.filter(({ functionResponse }) => functionResponse === undefined);
  const parts = own.map((part) => {
    const { functionCall } = part;
    if (functionCall === undefined) return part;
    const { id = "" } = functionCall;
    const usable = isUsable(id) && !usedIds.has(id) && !given.has(id);
    const call = { ...functionCall, args: functionCall.args ?? {}, id: usable ? id : `adk-${run.newId()}` };
    given.add(call.id);
    calls.push(call);
    return { ...part, functionCall: call };
  });
  return { parts, calls };
}

async function handOver(run: RunContext, frame: FrameRecord, target: string): Promise<void> {
  const agent = run.agents.get(target);
  if (agent === undefined) {
    const message = `There is no agent ${target} to transfer to.`;
    await finishFrame(run.parts, frame, failureOf(frame, "tool-gone", message));
    return;
  }
  const path = [...frame.path.slice(0, -1), target];
  await finishFrame(run.parts, frame, {
    status: "done",
    // The count continues after a handoff: otherwise two agents that hand over to each other would never stop.
    successor: { kind: agent.kind, agent: target, path, cursor: { spent: modelCalls(frame) } },
  });
}

function modelCalls(frame: FrameRecord): number {
  return frame.turn + (notesOf(frame).spent ?? 0);
}

async function finish(run: RunContext, frame: FrameRecord, end: FrameEnd): Promise<undefined> {
  await finishFrame(run.parts, frame, end);
  return undefined;
}

function escalation(frame: FrameRecord): { readonly escalated?: boolean } {
  return notesOf(frame).escalated === true ? { escalated: true } : {};
}

/** The agent's final text, which is also its output. */
function spoken(
  { agent, frame, state }: { readonly agent: Agent; readonly frame: FrameRecord; readonly state: State },
  chunk: ModelChunk,
): FrameEnd {
  const text = spokenText(chunk.parts);
  if (agent.outputKey !== undefined) state.set(agent.outputKey, text);
  const stateDelta = state.delta();
  return {
    status: "done",
    event: eventOf(frame, chunk, stateDelta),
    output: text,
    stateDelta,
    ...tellParent(frame, { ...escalation(frame), output: text }),
  };
}

function failed(frame: FrameRecord, chunk: ModelChunk): FrameEnd {
  const { errorCode = "internal", errorMessage = "" } = chunk;
  return failureOf(frame, errorCode, errorMessage);
}

function exhausted(run: RunContext, frame: FrameRecord): FrameEnd {
  const errorMessage = `The run reached its limit of ${run.settings.maxModelCalls} model calls for one message, in ${frame.agent}.`;
  return failureOf(frame, "model-calls-exhausted", errorMessage);
}

function eventOf(
  frame: FrameRecord,
  chunk: ModelChunk,
  stateDelta: JsonObject,
): NonNullable<FrameEnd["event"]> {
  const { parts, usageMetadata, finishReason } = chunk;
  const told = withoutTemporary(stateDelta);
  return {
    author: frame.agent,
    invocationId: frame.invocation,
    ...(frame.branch === undefined ? {} : { branch: frame.branch }),
    content: { role: "model", parts },
    ...(usageMetadata === undefined ? {} : { usageMetadata }),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(Object.keys(told).length === 0 ? {} : { actions: { stateDelta: told } }),
  };
}
