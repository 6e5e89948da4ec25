import {
  type AskOptions,
  bytesOf,
  checkedAsk,
  errorText,
  type GateVerdict,
  type HookAnswer,
} from "../../engine/index.ts";
import type { FunctionCall, JsonValue } from "../../protocol/index.ts";
import type { Agent, HookContext } from "../agents/index.ts";
import type { RunContext } from "../run-context.ts";
import type { Tool } from "../tools/index.ts";

const ASKED: GateVerdict = { source: "hook", outcome: "confirm", why: "a hook asks for confirmation" };

/**
 * Calls the Runner's hook and then the agent's for a call. The first answer wins. A hook that asked for confirmation
 * has not answered, whatever it returns: the next one may still refuse the call.
 */
export function askBeforeTool(
  scene: HookScene,
  tool: Tool,
  call: FunctionCall & { readonly id: string },
): Promise<HookAnswer> | HookAnswer {
  const { run, agent } = scene;
  // Most agents have no hooks, and a promise costs time at every call.
  const isHooked = run.hooks.beforeTool !== undefined || agent.hooks.beforeTool !== undefined;
  return isHooked ? askHooks(scene, tool, call) : { args: call.args, verdicts: [], card: {} };
}

interface HookScene {
  readonly run: RunContext;
  readonly agent: Agent;
  readonly ctx: HookContext;
}

async function askHooks(
  { run, agent, ctx }: HookScene,
  tool: Tool,
  call: FunctionCall & { readonly id: string },
): Promise<HookAnswer> {
  const args = structuredClone<{ [key: string]: JsonValue }>(call.args);
  let card: AskOptions | undefined;
  for (const { beforeTool } of [run.hooks, agent.hooks]) {
    if (beforeTool === undefined) continue;
    let asked = false;
    const requestConfirmation = (options: AskOptions = {}): void => {
      asked = true;
      const isFirst = card === undefined;
      // Even if the hook catches the error about its texts, it has asked.
      card ??= {};
      const words = checkedAsk(options);
      if (isFirst) card = words;
    };
    try {
      const value = await beforeTool({
        tool,
        args,
        ctx: { ...ctx, functionCallId: call.id, requestConfirmation },
      });
      if (value !== undefined && !asked)
        return { answer: fitting(value, run.engine.settings.maxResultBytes) };
    } catch (error) {
      // Hooks enforce policy: if one throws, the call is not permitted.
      const message = errorText(error);
      return { answer: { error: `a beforeTool hook failed: ${message}` } };
    }
  }
  return { args, verdicts: card === undefined ? [] : [ASKED], card: card ?? {} };
}

function fitting(answer: JsonValue, maxBytes: number): JsonValue {
  const bytes = bytesOf(answer);
  if (bytes <= maxBytes) return answer;
  return { error: `a beforeTool hook answered with ${bytes} bytes of JSON; the limit is ${maxBytes}.` };
}
