import {
  type Approvers,
  type AuthorGate,
  type CallSubject,
  type CardNotes,
  errorText,
  type FrameEnd,
  type FrameRecord,
  finishFrame,
  type GatedCall,
  type GatedTool,
  historyOf,
  isLedgerAway,
  judge,
  type LiveTool,
  type PlannedCall,
  planUnder,
  type Ruling,
  recordTurn,
  toLiveTool,
} from "../../engine/index.ts";
import type { JsonObject, JsonValue, Part } from "../../protocol/index.ts";
import {
  type ForeignAgent,
  type ForeignCall,
  type ForeignMove,
  type ForeignQuestion,
  requestersOf,
  tellParent,
} from "../agents/index.ts";
import { isVisible, spokenText } from "../history/index.ts";
import type { RunContext } from "../run-context.ts";
import { askHook, type HookOutcome, wordsEvent } from "./composite-step.ts";
import { failureOf } from "./failure.ts";
import { deleteRemoteWork, storeRemoteWork, wasDecidedElsewhere } from "./remote-work.ts";

/** Steps of a remote agent: asks it what comes next and records that, until something waits. */
export async function stepForeign(run: RunContext, agent: ForeignAgent, first: FrameRecord): Promise<void> {
  for (let frame: FrameRecord | undefined = first; frame?.status === "stepping"; ) {
    const before = frame.turn === 0 ? await askHook(run, agent, frame, "beforeAgent") : undefined;
    if (before?.parts !== undefined) return say(run, frame, before.parts, before);
    const move = await nextMove(run, agent, frame);
    if (move.kind === "fail") {
      await forget(run, frame);
      return finish(run, frame, failureOf(frame, "remote-failed", move.message));
    }
    if (move.kind === "say") {
      if (move.remember !== undefined) await remember(run, frame, move.remember);
      const after = await askHook(run, agent, frame, "afterAgent");
      return say(run, frame, after?.parts ?? [{ text: move.text }], after);
    }
    frame = await record(run, agent, { frame, move, before });
  }
}

// If the agent throws, its frame ends; otherwise no process would continue it.
async function nextMove(run: RunContext, agent: ForeignAgent, frame: FrameRecord): Promise<ForeignMove> {
  const calls = await callsOf(run, frame);
  try {
    const words = (): Promise<string> => wordsFor(run, frame);
    const remembered = (): Promise<JsonValue | undefined> => recall(run, frame);
    const decidedElsewhere = wasDecidedElsewhere(frame);
    return await agent.next({ cursor: frame.cursor, calls, decidedElsewhere, words, remembered });
  } catch (error) {
    // The step is taken again when the ledger answers.
    if (isLedgerAway(error)) throw error;
    return { kind: "fail", message: errorText(error) };
  }
}

const REMEMBERED = "foreign-agent";
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;

// If the agent is called as a tool, each call is a new conversation.
async function recall({ engine }: RunContext, frame: FrameRecord): Promise<JsonValue | undefined> {
  if (frame.parentCall !== undefined) return undefined;
  return (await engine.ledger.items.get(REMEMBERED, memoryOf(frame)))?.value;
}

async function remember(run: RunContext, frame: FrameRecord, value: JsonValue): Promise<void> {
  if (frame.parentCall !== undefined) return;
  const { ledger } = run.engine;
  const id = memoryOf(frame);
  const known = await ledger.items.get(REMEMBERED, id);
  // If two end at once, either note will do.
  const item = { kind: REMEMBERED, id, value, expiresAt: run.now() + REMEMBERED_MS };
  await ledger.items.put(item, known?.version ?? 0);
}

// Its note may be the cause of the failure.
async function forget({ engine }: RunContext, frame: FrameRecord): Promise<void> {
  const known = await engine.ledger.items.get(REMEMBERED, memoryOf(frame));
  if (known !== undefined) await engine.ledger.items.remove(known);
}

function memoryOf({ session, agent, branch = "" }: FrameRecord): string {
  return JSON.stringify([session, agent, branch]);
}

async function callsOf({ engine }: RunContext, frame: FrameRecord): Promise<readonly ForeignCall[]> {
  const found: ForeignCall[] = [];
  for (const id of frame.calls) {
    const { call, confirmation } = (await engine.ledger.load({ call: id })) ?? {};
    if (call !== undefined) found.push(confirmation === undefined ? { call } : { call, confirmation });
  }
  return found;
}

async function wordsFor({ parts }: RunContext, frame: FrameRecord): Promise<string> {
  const seen = (await historyOf(parts, frame)).filter((event) => isVisible(event, frame.branch));
  const since = seen.findLastIndex(({ author, content }) => author === frame.agent && content !== undefined);
  const texts = seen.slice(since + 1).flatMap(({ author, content }) => {
    const text = spokenText(content?.parts ?? []);
    // Calls and their results are only for the agent that made them.
    if (text === "") return [];
    return author === "user" ? [text] : [`[${author}] said: ${text}`];
  });
  return texts.join("\n");
}

async function say(
  run: RunContext,
  frame: FrameRecord,
  parts: readonly Part[],
  hook: HookOutcome | undefined,
): Promise<void> {
  const output = spokenText(parts);
  await finish(run, frame, {
    status: "done",
    event: wordsEvent(frame, parts),
    output,
    ...(hook === undefined ? {} : { stateDelta: hook.stateDelta }),
    ...tellParent(frame, { output }),
  });
}

// If the run was stopped meanwhile, its remote work must still be cancelled.
async function finish(run: RunContext, frame: FrameRecord, end: FrameEnd): Promise<void> {
  if (await finishFrame(run.parts, frame, end)) await deleteRemoteWork(run, frame);
}

interface Recording {
  readonly frame: FrameRecord;
  readonly move: Extract<ForeignMove, { kind: "do" | "ask" }>;
  readonly before: HookOutcome | undefined;
}

async function record(
  run: RunContext,
  agent: ForeignAgent,
  { frame, move, before }: Recording,
): Promise<FrameRecord | undefined> {
  const { user = "", id: session = "" } = (await run.names.of(frame.session)) ?? {};
  const subject = {
    app: run.app,
    agent: frame.agent,
    user,
    requesters: requestersOf(frame, user),
    asker: frame.asker,
    session: { id: session, key: frame.session },
  };
  const planner = { run, agent, frame, subject };
  const calls: PlannedCall[] = [];
  if (move.kind === "do") calls.push(await planDeed(planner, move));
  else for (const question of move.questions) calls.push(await planQuestion(planner, question));
  const parts = calls.map(({ wireId: id, tool: name, args }) => ({ functionCall: { id, name, args } }));
  const stateDelta = before?.stateDelta;
  const turn = {
    event: wordsEvent(frame, parts),
    calls,
    ...(stateDelta === undefined ? {} : { stateDelta }),
  };
  return (await recordTurn(run.parts, frame, turn))?.frame;
}

interface Planner {
  readonly run: RunContext;
  readonly agent: ForeignAgent;
  readonly frame: FrameRecord;
  readonly subject: CallSubject;
}

// A message that is not gated answers a question that people have decided.
async function planDeed(
  planner: Planner,
  { tool: name, args, gated }: Extract<ForeignMove, { kind: "do" }>,
): Promise<PlannedCall> {
  const call = gatedCall(planner, { tool: foreignTool(planner.agent, { name }), args });
  const ruling = await judge(planner.run.remoteRules, call);
  return planned(planner, call, ruling.outcome === "confirm" && !gated ? notAsked(ruling) : ruling);
}

/** The same without a question. Which rules applied is still recorded. */
function notAsked({ policy }: Ruling): Ruling {
  const noted = policy === undefined ? {} : { policy };
  return { outcome: "allow", why: [], requirements: [], authorOnly: false, ...noted };
}

async function planQuestion(planner: Planner, asked: ForeignQuestion): Promise<PlannedCall> {
  const tool = foreignTool(planner.agent, { ...asked, name: asked.tool, gates: ["remote"] });
  const call = gatedCall(planner, { tool, args: asked.args });
  return planned(planner, call, await judge(planner.run.remoteRules, call), asked.notes);
}

function gatedCall(
  { subject }: Planner,
  { tool, args }: { readonly tool: GatedTool; readonly args: JsonObject },
): GatedCall {
  return { tool, parsed: { args, value: args }, subject };
}

async function planned(
  { run, agent }: Planner,
  call: GatedCall,
  ruling: Ruling,
  notes: CardNotes = {},
): Promise<PlannedCall> {
  const { tool, parsed } = call;
  const live = foreignLiveTool(run, agent, tool.name);
  return {
    wireId: `adk-${run.newId()}`,
    tool: tool.name,
    args: parsed.args,
    definitionDigest: live.definitionDigest,
    repeatable: tool.repeatable,
    plan: await planUnder(ruling, { rules: run.remoteRules, call }, { live, notes }),
  };
}

// Of remote tools, only the name and the owner are known.
function foreignTool(
  agent: ForeignAgent,
  about: {
    readonly name: string;
    readonly source?: string;
    readonly approvers?: Approvers;
    readonly gates?: readonly AuthorGate[];
  },
): GatedTool {
  const { name, source = agent.name, approvers = "requester", gates = [] } = about;
  return {
    name,
    source,
    definition: { name, server: agent.name },
    confirmation: { approvers, hint: () => undefined },
    repeatable: true,
    secrets: [],
    parse: async (args) => ({ ok: true, args, unparsed: false, value: args }),
    gates: async () => gates,
  };
}

/** A call of such an agent as the engine runs it. */
export function foreignLiveTool(run: RunContext, agent: ForeignAgent, name: string): LiveTool {
  const tool = foreignTool(agent, { name });
  return toLiveTool(
    { rules: run.remoteRules, tool },
    {
      run: (call, context) =>
        agent.perform(call, {
          ...context,
          closing: run.closing,
          stopped: run.cancellation.signalOf(context.invocation ?? ""),
          sleep: (ms, signal) => run.sleep(ms, signal),
          note: (note) => storeRemoteWork(run, call, note),
        }),
    },
  );
}
