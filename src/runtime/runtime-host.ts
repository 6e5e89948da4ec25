import type { CallRecord, FrameRecord, Host, LiveTool } from "../engine/index.ts";
import { Agent } from "./agent.ts";
import { toolsOf } from "./agent-tools.ts";
import { answerInProcess } from "./answer-in-process.ts";
import { stepComposite } from "./composite-step.ts";
import { toLiveTool } from "./live-tool.ts";
import { stepLlm } from "./llm-step.ts";
import type { RunContext } from "./run-context.ts";

/** What this process can run of an app: its agents' steps and their tools. */
export function createRuntimeHost(run: RunContext): Host {
  return {
    app: run.app,
    tool: (call) => liveToolFor(run, call),
    step: (frame) => step(run, frame),
    asked: (asked) => answerInProcess(run, asked),
  };
}

async function liveToolFor(run: RunContext, call: CallRecord): Promise<LiveTool | undefined> {
  const agent = run.agents.get(call.agent);
  if (!(agent instanceof Agent)) return undefined;
  const tool = (await toolsOf(agent, run.agents)).get(call.tool);
  return tool === undefined ? undefined : toLiveTool(run, agent, tool);
}

async function step(run: RunContext, frame: FrameRecord): Promise<void> {
  const agent = run.agents.get(frame.agent);
  if (agent === undefined) {
    const errorMessage = `The agent ${frame.agent} no longer exists in ${frame.app}.`;
    const event = {
      author: frame.agent,
      invocationId: frame.invocation,
      errorCode: "tool-gone",
      errorMessage,
    };
    await run.engine.finishFrame(frame, { status: "failed", event, output: { error: errorMessage } });
    return;
  }
  await (agent instanceof Agent ? stepLlm(run, agent, frame) : stepComposite(run, agent, frame));
}
