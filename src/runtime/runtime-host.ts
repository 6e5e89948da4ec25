import { type CallRecord, type FrameRecord, finishFrame, type Host, type LiveTool } from "../engine/index.ts";
import { Agent, isForeign, toolsOf } from "./agents/index.ts";
import { liveToolOf } from "./calls/index.ts";
import { failureOf, foreignLiveTool, RemoteWork, stepComposite, stepForeign, stepLlm } from "./loop/index.ts";
import { answerInProcess, sayer, sendWaitingFollowUps } from "./messages/index.ts";
import type { RunContext } from "./run-context.ts";

/** What this process can run of an app: its agents' steps and their tools. */
export function createRuntimeHost(run: RunContext): Host {
  const elsewhere = new RemoteWork(run);
  return {
    app: run.app,
    agents: run.agents.names,
    tool: (call) => liveToolFor(run, call),
    step: (frame) => step(run, frame),
    asked: (asked) => answerInProcess(run, asked),
    sweep: async () => {
      await elsewhere.sweep();
      await sendWaitingFollowUps(run, sayer(run));
    },
  };
}

async function liveToolFor(run: RunContext, call: CallRecord): Promise<LiveTool | undefined> {
  const agent = run.agents.get(call.agent);
  if (agent !== undefined && isForeign(agent)) return foreignLiveTool(run, agent, call.tool);
  if (!(agent instanceof Agent)) return undefined;
  const tool = (await toolsOf(agent, run.agents)).get(call.tool);
  return tool === undefined ? undefined : liveToolOf(run, agent, tool);
}

async function step(run: RunContext, frame: FrameRecord): Promise<void> {
  const { lost = 0 } = frame;
  if (lost >= run.engine.settings.maxLostAttempts) {
    // The step itself may crash its processes; repeating it could crash one after another.
    const message = `${lost} processes crashed in this step of ${frame.agent}. It is not retried.`;
    await finishFrame(run.parts, frame, failureOf(frame, "step-lost", message));
    return;
  }
  const agent = run.agents.get(frame.agent);
  if (agent === undefined) {
    const message = `The agent ${frame.agent} no longer exists in ${frame.app}.`;
    await finishFrame(run.parts, frame, failureOf(frame, "tool-gone", message));
    return;
  }
  if (isForeign(agent)) return stepForeign(run, agent, frame);
  await (agent instanceof Agent ? stepLlm(run, agent, frame) : stepComposite(run, agent, frame));
}
