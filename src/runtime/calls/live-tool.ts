import { type HookAnswer, type LiveTool, type StoredCall, toLiveTool } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { type Agent, hookContextFor } from "../agents/index.ts";
import type { RunContext } from "../run-context.ts";
import type { Tool } from "../tools/index.ts";
import { askBeforeTool } from "./before-tool.ts";
import { enterTool } from "./enter-tool.ts";

/** A tool of an agent as the engine runs it: with the app's rules, hooks and state around its body. */
export function liveToolOf(run: RunContext, agent: Agent, tool: Tool): LiveTool {
  // If a provider answers, a tool that asked gets a rejection as an error that it can catch.
  const onDenied =
    tool.confirmation.onDenied ?? (agent.confirmationProvider === undefined ? undefined : "invoke");
  return toLiveTool(
    { rules: run.rules, tool, hooks: (about, args) => askHooksAgain(run, { agent, tool, about }, args) },
    { onDenied, run: (call, context) => enterTool(run, { agent, tool, call }, context) },
  );
}

interface HookedTool {
  readonly agent: Agent;
  readonly tool: Tool;
  readonly about: StoredCall;
}

// What a hook writes to the state here is not stored.
async function askHooksAgain(
  run: RunContext,
  { agent, tool, about: { call, frame } }: HookedTool,
  args: JsonObject,
): Promise<HookAnswer> {
  const ctx = frame === undefined ? undefined : await hookContextFor(run, agent, frame);
  if (ctx === undefined) return { answer: { error: "the session of this call no longer exists" } };
  return askBeforeTool({ run, agent, ctx }, tool, { id: call.wireId, name: call.tool, args });
}
