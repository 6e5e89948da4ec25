import {
  type CallRecord,
  definitionDigest,
  type FrameRecord,
  type PlannedCall,
  valueDigest,
} from "../engine/index.ts";
import { type FunctionCall, isReservedName, type JsonObject, type JsonValue } from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import { forbiddenAnswer, type GatedCall, questionOf, verdictsOn } from "./gate-call.ts";
import { firstValue, type HookContext } from "./hooks.ts";
import { toLiveTool } from "./live-tool.ts";
import type { RunContext } from "./run-context.ts";
import type { Tool } from "./tool.ts";
import { rule, type Verdict } from "./verdict.ts";

/** One model step, as planning its calls needs it. */
export interface StepScene {
  readonly run: RunContext;
  readonly agent: Agent;
  readonly frame: FrameRecord;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly ctx: HookContext;
  /** Everyone who counts as having asked. */
  readonly requesters: readonly string[];
  /** Calls of this session that wait for a person. */
  readonly open: readonly CallRecord[];
  /** Calls denied since the user last spoke. */
  readonly denied: readonly CallRecord[];
}

export type IdentifiedCall = FunctionCall & { readonly id: string };

/**
 * Takes each call of a turn through hooks, parsing and the gate, and says what is to become of it. Nothing
 * has run when this returns, and nothing will that it did not plan.
 */
export async function planCalls(
  scene: StepScene,
  calls: readonly IdentifiedCall[],
): Promise<readonly PlannedCall[]> {
  const planned: PlannedCall[] = [];
  for (const call of calls) {
    const asking = planned.filter(({ plan }) => plan.kind === "ask").length;
    planned.push(await planCall(scene, call, asking));
  }
  return planned;
}

async function planCall(scene: StepScene, call: IdentifiedCall, asking: number): Promise<PlannedCall> {
  const tool = scene.tools.get(call.name);
  if (tool === undefined) return answered(call, unknownTool(scene, call.name));
  const hooked = await beforeTool(scene, tool, call);
  if ("answer" in hooked) return answered(call, hooked.answer);
  const parsed = await tool.parse(hooked.args);
  if (!parsed.ok) return answered(call, misfit(parsed));
  const { agentName, userId, sessionId } = scene.ctx;
  const gated: GatedCall = { tool, parsed, where: { agentName, userId, sessionId } };
  const ruling = rule([...(await verdictsOn(scene.run, gated)), ...hooked.verdicts]);
  const base = {
    wireId: call.id,
    tool: tool.name,
    args: parsed.args,
    unparsed: parsed.unparsed,
    definitionDigest: definitionDigest(tool.definition),
    secrets: tool.secrets,
    repeatable: tool.repeatable,
  };
  if (ruling.outcome === "deny") {
    return { ...base, plan: { kind: "answer", status: "denied", result: forbiddenAnswer(ruling.why) } };
  }
  if (ruling.outcome === "allow") {
    return { ...base, plan: { kind: "run", tool: toLiveTool(scene.run, scene.agent, tool) } };
  }
  const instead = answerWithoutAsking(scene, { tool, args: parsed.args, asking });
  if (instead !== undefined) return { ...base, plan: instead };
  const question = questionOf(gated, ruling, { requesters: scene.requesters, ...hooked.card });
  return { ...base, plan: { kind: "ask", question } };
}

interface Hooked {
  readonly args: JsonObject;
  readonly verdicts: readonly Verdict[];
  readonly card: { readonly hint?: string; readonly payload?: JsonValue };
}

async function beforeTool(
  scene: StepScene,
  tool: Tool,
  call: IdentifiedCall,
): Promise<Hooked | { readonly answer: JsonValue }> {
  const args = structuredClone<{ [key: string]: JsonValue }>(call.args);
  let asked: Hooked["card"] | undefined;
  const ctx = {
    ...scene.ctx,
    functionCallId: call.id,
    requestConfirmation: (options: { hint?: string; payload?: JsonValue } = {}) => {
      const { hint, payload } = options;
      asked = { ...(hint === undefined ? {} : { hint }), ...(payload === undefined ? {} : { payload }) };
    },
  };
  try {
    const value = await firstValue([scene.run.hooks, scene.agent.hooks], "beforeTool", { tool, args, ctx });
    if (asked !== undefined) {
      const verdict: Verdict = { source: "hook", outcome: "confirm", why: "a hook asks for confirmation" };
      return { args, verdicts: [verdict], card: asked };
    }
    return value === undefined ? { args, verdicts: [], card: {} } : { answer: value };
  } catch (error) {
    // A hook enforces policy; one that fails has not permitted anything.
    return {
      answer: {
        error: `a beforeTool hook failed: ${error instanceof Error ? error.message : String(error)}`,
      },
    };
  }
}

/** A question that is open already, was just denied, or would be one too many, is not put again. */
function answerWithoutAsking(
  scene: StepScene,
  { tool, args, asking }: { readonly tool: Tool; readonly args: JsonObject; readonly asking: number },
): PlannedCall["plan"] | undefined {
  const { maxOpen } = scene.run.settings;
  if (scene.denied.length + scene.open.length === 0 && asking < maxOpen) return undefined;
  const digest = valueDigest(scene.run.engine.ledger.digestKey, args);
  const same = (call: CallRecord): boolean => call.tool === tool.name && call.argsDigest === digest;
  const denied = scene.denied.find(same);
  if (denied !== undefined) return { kind: "answer", status: "denied", result: denied.result ?? null };
  const open = scene.open.find(same);
  if (open !== undefined) {
    const error = `the same call is already awaiting a person's decision (${open.confirmation ?? open.wireId}); it has not run`;
    return { kind: "answer", status: "failed", result: { error } };
  }
  if (scene.open.length + asking < maxOpen) return undefined;
  const error = `too many open confirmations: at most ${maxOpen} may wait in one session`;
  return { kind: "answer", status: "failed", result: { error, code: "too-many-open" } };
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
    error: `the arguments do not fit: ${field === "" ? "" : `${field}: `}${message}`,
    code: "arguments-mismatch",
    ...(field === "" ? {} : { field }),
  };
}
