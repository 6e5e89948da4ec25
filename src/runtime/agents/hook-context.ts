import type { FrameRecord } from "../../engine/index.ts";
import type { RunContext } from "../run-context.ts";
import { State } from "../tools/index.ts";
import { Agent, type AnyAgent } from "./agent.ts";
import type { HookContext, Hooks } from "./hooks.ts";

/** The context of the hooks in one step of an agent; undefined if the session is gone. */
export async function hookContextFor(
  run: RunContext,
  agent: AnyAgent,
  frame: FrameRecord,
): Promise<HookContext | undefined> {
  const session = await run.names.of(frame.session);
  if (session === undefined) return undefined;
  return {
    agentName: agent.name,
    userId: session.user,
    sessionId: session.id,
    invocationId: frame.invocation,
    state: new State(
      isLookedAt(run, agent) ? await run.engine.ledger.state(frame.session) : {},
      run.engine.settings.maxStateBytes,
    ),
  };
}

/** Can any code read state in a step? If not, the state is not loaded. */
function isLookedAt(run: RunContext, agent: AnyAgent): boolean {
  if (hasStepHook(run.hooks) || hasStepHook(agent.hooks)) return true;
  if (!(agent instanceof Agent)) return false;
  const { instruction } = agent;
  return typeof instruction !== "string" || instruction.includes("{");
}

function hasStepHook({ beforeAgent, afterAgent, beforeModel, afterModel, beforeTool }: Hooks): boolean {
  return [beforeAgent, afterAgent, beforeModel, afterModel, beforeTool].some((hook) => hook !== undefined);
}
