import type { FrameRecord } from "../engine/index.ts";
import { isJsonObject, member } from "../protocol/index.ts";
import { type AnyAgent, LoopAgent } from "./agent.ts";
import type { RunContext } from "./run-context.ts";

/** One step of an agent that only arranges others: start the next of them, or end. */
export async function stepComposite(run: RunContext, agent: AnyAgent, frame: FrameRecord): Promise<void> {
  const children = childrenFor(agent, frame);
  if (children.length === 0) {
    await run.engine.finishFrame(frame, { status: "done" });
    return;
  }
  await run.engine.spawnFrames(frame, {
    cursor: { next: nextOf(frame) + children.length },
    children: children.map((child) => ({
      kind: child.kind,
      agent: child.name,
      path: [...frame.path, child.name],
      ...branchFor(agent, frame, child),
    })),
  });
}

// A group steps once for all; a sequence and a loop once per child. The cursor counts children started.
function childrenFor(agent: AnyAgent, frame: FrameRecord): readonly AnyAgent[] {
  const next = nextOf(frame);
  if (agent.kind === "parallel") return next === 0 ? agent.subAgents : [];
  const rounds = agent instanceof LoopAgent ? agent.maxIterations : 1;
  const { length } = agent.subAgents;
  const escalated = isJsonObject(frame.cursor) && member(frame.cursor, "escalated") === true;
  const child = agent.subAgents[next % Math.max(length, 1)];
  return escalated || child === undefined || next >= rounds * length ? [] : [child];
}

function nextOf(frame: FrameRecord): number {
  const next = isJsonObject(frame.cursor) ? member(frame.cursor, "next") : undefined;
  return typeof next === "number" ? next : 0;
}

// Branches of a group do not see each other; what comes after the group sees them all.
function branchFor(agent: AnyAgent, frame: FrameRecord, child: AnyAgent): { readonly branch?: string } {
  if (agent.kind === "parallel") {
    return {
      branch:
        frame.branch === undefined
          ? `${agent.name}.${child.name}`
          : `${frame.branch}.${agent.name}.${child.name}`,
    };
  }
  return frame.branch === undefined ? {} : { branch: frame.branch };
}
