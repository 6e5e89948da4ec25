import type { CallerOutcome } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { FrameworkCall, ThreadGate } from "../thread-gate.ts";
import type { ToolRule } from "../tool-rule.ts";

const HANDED = { handedTo: "claude-agent-sdk", note: "Countersign does not know whether the tool ran." };

/** A use of a tool that Claude Code runs itself. */
export function othersTool(
  name: string,
  use: {
    readonly args: JsonObject;
    readonly id: string;
    readonly rule: ToolRule<JsonObject>;
    readonly cwd?: string;
  },
): FrameworkCall<JsonObject> {
  const { args, id, rule, cwd } = use;
  const where = cwd === undefined ? "" : ` in ${cwd}`;
  return {
    // The folder is part of what is approved: in another one people are asked again.
    tool: { name, description: `A tool that Claude Code runs itself after an approval${where}.` },
    rule: {
      hint: `Let Claude use ${name}${where}?`,
      ...rule,
      // Only the handing over is claimed, and it can be repeated until it is reported.
      idempotent: true,
    },
    args,
    id,
    turn: id,
  };
}

/** Gives an approval to Claude Code, once. Without `args` it is not given now, and the outcome says why. */
export async function handOver(
  gate: ThreadGate,
  call: FrameworkCall<JsonObject>,
  signal: AbortSignal,
): Promise<{ readonly outcome: CallerOutcome; readonly args?: JsonObject }> {
  let args: JsonObject | undefined;
  const outcome = await gate.run(
    call,
    async (approved) => {
      args = approved;
      return HANDED;
    },
    { signal },
  );
  // The ledger must know before Claude Code does.
  return args === undefined || outcome.status !== "succeeded" ? { outcome } : { outcome, args };
}
