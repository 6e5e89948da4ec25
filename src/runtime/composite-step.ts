import type { FrameRecord } from "../engine/index.ts";
import { type AnyAgent, LoopAgent } from "./agent.ts";
import { notesOf, tellParent } from "./frame-cursor.ts";
import type { RunContext } from "./run-context.ts";

/** One step of an agent that only arranges others: start the next of them, or end. */
export async function stepComposite(run: RunContext, agent: AnyAgent, frame: FrameRecord): Promise<void> {
  const { next = 0, failed, escalated, output } = notesOf(frame);
  // What comes next counts on what came before.
  if (failed === true) {
    const failure = { status: "failed", ...tellParent(frame, { failed }) } as const;
    await run.engine.finishFrame(frame, output === undefined ? failure : { ...failure, output });
    return;
  }
  const isLoop = agent instanceof LoopAgent;
  const children = isLoop && escalated === true ? [] : childrenFor(agent, next);
  if (children.length === 0) {
    const left = {
      ...(output === undefined ? {} : { output }),
      // A loop is what escalation ends; everything else hands it on to the loop around it.
      ...(escalated === true && !isLoop ? { escalated } : {}),
    };
    await run.engine.finishFrame(frame, {
      status: "done",
      ...(output === undefined ? {} : { output }),
      ...tellParent(frame, left),
    });
    return;
  }
  await run.engine.spawnFrames(frame, {
    cursor: { next: next + children.length },
    children: children.map((child) => ({
      kind: child.kind,
      agent: child.name,
      path: [...frame.path, child.name],
      ...branchFor(agent, frame, child),
    })),
  });
}

// A group steps once for all; a sequence and a loop once per child. `next` counts children started.
function childrenFor(agent: AnyAgent, next: number): readonly AnyAgent[] {
  if (agent.kind === "parallel") return next === 0 ? agent.subAgents : [];
  const rounds = agent instanceof LoopAgent ? agent.maxIterations : 1;
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
