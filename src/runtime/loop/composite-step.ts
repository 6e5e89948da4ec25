import { type FrameEnd, type FrameRecord, finishFrame, spawnFrames } from "../../engine/index.ts";
import type { JsonObject, Part } from "../../protocol/index.ts";
import {
  type AnyAgent,
  firstValue,
  hookContextFor,
  LoopAgent,
  notesOf,
  tellParent,
} from "../agents/index.ts";
import { spokenText } from "../history/index.ts";
import type { RunContext } from "../run-context.ts";

/** One step of a composite agent: start the next child, or end. */
export async function stepComposite(run: RunContext, agent: AnyAgent, frame: FrameRecord): Promise<void> {
  const { next = 0, failed, escalated, output } = notesOf(frame);
  // Later agents depend on earlier ones.
  if (failed === true) {
    const failure = { status: "failed", ...tellParent(frame, { failed }) } as const;
    await finishFrame(run.parts, frame, output === undefined ? failure : { ...failure, output });
    return;
  }
  const before = next === 0 ? await askHook(run, agent, frame, "beforeAgent") : undefined;
  if (before?.parts !== undefined) return end(run, agent, frame, before);
  const ended = agent instanceof LoopAgent && escalated === true;
  const children = ended ? [] : childrenFor(run, agent, next);
  if (children.length === 0) return end(run, agent, frame, await askHook(run, agent, frame, "afterAgent"));
  await spawnFrames(run.parts, frame, {
    cursor: { next: next + children.length },
    ...(before === undefined ? {} : { stateDelta: before.stateDelta }),
    children: children.map((child) => ({
      kind: child.kind,
      agent: child.name,
      path: [...frame.path, child.name],
      ...branchFor(agent, frame, child),
    })),
  });
}

/** Ends the frame: with its hook's text, if any, else with its children's result. */
async function end(
  run: RunContext,
  agent: AnyAgent,
  frame: FrameRecord,
  hook: HookOutcome | undefined,
): Promise<void> {
  const { escalated, output: left } = notesOf(frame);
  const output = hook?.parts === undefined ? left : spokenText(hook.parts);
  const notes = {
    ...(output === undefined ? {} : { output }),
    // Escalation ends a loop; any other composite passes it to the surrounding loop.
    ...(escalated === true && !(agent instanceof LoopAgent) ? { escalated } : {}),
  };
  await finishFrame(run.parts, frame, {
    status: "done",
    ...(hook?.parts === undefined ? {} : { event: wordsEvent(frame, hook.parts) }),
    ...(hook === undefined ? {} : { stateDelta: hook.stateDelta }),
    ...(output === undefined ? {} : { output }),
    ...tellParent(frame, notes),
  });
}

/** What a hook did: the state it set, and its answer instead of the agent's, if any. */
export interface HookOutcome {
  readonly stateDelta: JsonObject;
  readonly parts?: readonly Part[];
}

/** Calls a hook of an agent without a model; undefined if there is none. */
export async function askHook(
  run: RunContext,
  agent: AnyAgent,
  frame: FrameRecord,
  name: "beforeAgent" | "afterAgent",
): Promise<HookOutcome | undefined> {
  // Most composites have no hooks, so the state is not loaded for them.
  if (agent.hooks[name] === undefined && run.hooks[name] === undefined) return undefined;
  const ctx = await hookContextFor(run, agent, frame);
  if (ctx === undefined) return undefined;
  const content = await firstValue([run.hooks, agent.hooks], name, { ctx });
  return { stateDelta: ctx.state.delta(), ...(content === undefined ? {} : { parts: content.parts }) };
}

/** What an agent says, as an event of its frame. */
export function wordsEvent(frame: FrameRecord, parts: readonly Part[]): NonNullable<FrameEnd["event"]> {
  const { agent: author, invocation: invocationId, branch } = frame;
  const where = branch === undefined ? {} : { branch };
  return { author, invocationId, ...where, content: { role: "model", parts } };
}

// A group steps once for all; a sequence and a loop once per child. `next` counts children started.
function childrenFor({ settings }: RunContext, agent: AnyAgent, next: number): readonly AnyAgent[] {
  if (agent.kind === "parallel") return next === 0 ? agent.subAgents : [];
  const rounds = agent instanceof LoopAgent ? (agent.maxIterations ?? settings.maxModelCalls) : 1;
  const { length } = agent.subAgents;
  const child = agent.subAgents[next % Math.max(length, 1)];
  return child === undefined || next >= rounds * length ? [] : [child];
}

// Branches of a group do not see each other; what comes after the group sees them all.
function branchFor(agent: AnyAgent, frame: FrameRecord, child: AnyAgent): { readonly branch?: string } {
  if (agent.kind !== "parallel") return frame.branch === undefined ? {} : { branch: frame.branch };
  const own = `${agent.name}.${child.name}`;
  return { branch: frame.branch === undefined ? own : `${frame.branch}.${own}` };
}
