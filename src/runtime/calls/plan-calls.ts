import {
  type CallRecord,
  type CallSubject,
  type FrameRecord,
  type GatedCall,
  judge,
  type LiveTool,
  type PlannedCall,
  parseArguments,
  planUnder,
  valueDigest,
} from "../../engine/index.ts";
import { type FunctionCall, isReservedName, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { type Agent, type HookContext, TRANSFER_TOOL } from "../agents/index.ts";
import type { RunContext } from "../run-context.ts";
import type { Tool } from "../tools/index.ts";
import { askBeforeTool } from "./before-tool.ts";
import { liveToolOf } from "./live-tool.ts";

/** One model step, as planning its calls needs it. */
export interface StepScene {
  readonly run: RunContext;
  readonly agent: Agent;
  readonly frame: FrameRecord;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly ctx: HookContext;
  /** Everyone who counts as the requester. */
  readonly requesters: readonly string[];
  /** Calls of this session that wait for a person. */
  readonly open: readonly CallRecord[];
  /** Calls denied since the user last spoke. */
  readonly denied: readonly CallRecord[];
}

export type IdentifiedCall = FunctionCall & { readonly id: string };

/**
 * Takes each call of a turn through hooks, parsing and the gate, and plans what happens to it. Nothing has run when
 * this returns, and only planned calls will run.
 */
export async function planCalls(
  scene: StepScene,
  calls: readonly IdentifiedCall[],
): Promise<readonly PlannedCall[]> {
  const planned: PlannedCall[] = [];
  const turn: TurnScene = { ...scene, subject: subjectIn(scene), live: new Map() };
  for (const call of calls) {
    const second = call.name === TRANSFER_TOOL && planned.some(isTransfer);
    planned.push(second ? answered(call, SECOND_TRANSFER) : await planCall(turn, call));
  }
  return planned;
}

/** What all calls of the turn have in common. */
interface TurnScene extends StepScene {
  readonly subject: CallSubject;
  /** The tools of the turn as the engine runs them. */
  readonly live: Map<Tool, LiveTool>;
}

const SECOND_TRANSFER: JsonObject = {
  error: "the conversation was already transferred; only one agent can take it",
};

function isTransfer({ tool, plan }: PlannedCall): boolean {
  return tool === TRANSFER_TOOL && plan.kind !== "answer";
}

async function planCall(scene: TurnScene, call: IdentifiedCall): Promise<PlannedCall> {
  const tool = scene.tools.get(call.name);
  if (tool === undefined) return answered(call, unknownTool(scene, call.name));
  const asked = askBeforeTool(scene, tool, call);
  const hooked = asked instanceof Promise ? await asked : asked;
  if ("answer" in hooked) return answered(call, hooked.answer);
  const parsing = parseArguments(tool, hooked.args);
  const parsed = parsing instanceof Promise ? await parsing : parsing;
  if (!parsed.ok) return answered(call, misfit(parsed));
  const { rules } = scene.run;
  const gated: GatedCall = { tool, parsed, subject: scene.subject };
  const judging = judge(rules, gated, hooked.verdicts);
  const ruling = judging instanceof Promise ? await judging : judging;
  const live = scene.live.get(tool) ?? liveToolOf(scene.run, scene.agent, tool);
  scene.live.set(tool, live);
  const repeated = ruling.outcome === "deny" ? undefined : answerAsBefore(scene, tool, parsed.args);
  const plan = repeated ?? planUnder(ruling, { rules, call: gated }, { live, notes: hooked.card });
  return {
    wireId: call.id,
    tool: tool.name,
    args: parsed.args,
    unparsed: parsed.unparsed,
    definitionDigest: live.definitionDigest,
    secrets: tool.secrets,
    repeatable: tool.repeatable,
    // A turn may have many calls, and most of them run at once.
    plan: plan instanceof Promise ? await plan : plan,
  };
}

function subjectIn({ run, frame, ctx, requesters }: StepScene): CallSubject {
  const { agentName: agent, userId: user, sessionId: id } = ctx;
  return { app: run.app, agent, user, requesters, asker: frame.asker, session: { id, key: frame.session } };
}

/** The same call is not asked about again, nor run, while it waits or after it was denied. */
function answerAsBefore(scene: StepScene, tool: Tool, args: JsonObject): PlannedCall["plan"] | undefined {
  if (scene.denied.length + scene.open.length === 0) return undefined;
  const digest = valueDigest(scene.run.engine.ledger.digestKey, args);
  const same = (call: CallRecord): boolean => call.tool === tool.name && call.argsDigest === digest;
  const denied = scene.denied.find(same);
  if (denied !== undefined) return { kind: "answer", status: "denied", result: denied.result ?? null };
  const open = scene.open.find(same);
  if (open === undefined) return undefined;
  const error = `the same call is already awaiting a person's decision (${open.wireId}); it has not run`;
  return { kind: "answer", status: "failed", result: { error } };
}

function answered(call: IdentifiedCall, result: JsonValue): PlannedCall {
  const failed = typeof result === "object" && result !== null && "error" in result;
  return {
    wireId: call.id,
    tool: call.name,
    args: call.args,
    definitionDigest: "",
    plan: { kind: "answer", status: failed ? "failed" : "succeeded", result },
  };
}

function unknownTool(scene: StepScene, name: string): JsonObject {
  if (isReservedName(name))
    return { error: `"${name}" is reserved and cannot be called`, code: "reserved-name" };
  const known = [...scene.tools.keys()].join(", ") || "none";
  return { error: `there is no tool "${name}"; available: ${known}`, code: "unknown-tool" };
}

function misfit({ field, message }: { readonly field: string; readonly message: string }): JsonObject {
  return {
    error: `invalid arguments: ${field === "" ? "" : `${field}: `}${message}`,
    code: "arguments-mismatch",
    ...(field === "" ? {} : { field }),
  };
}
