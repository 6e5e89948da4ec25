import { createSdkMcpServer, type HookCallback, type Options, tool } from "@anthropic-ai/claude-agent-sdk";
import { type ClaudeGate, createGate } from "../../../src/adapters/claude-agent-sdk/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import type { AloneSubject } from "../../adapters/alone/alone.ts";
import type { AdapterHost, Progress, World } from "../../adapters/contract/subject.ts";
import { runClaude } from "./claude.ts";
import { INPUT, progressOf, type State, text } from "./subject.ts";

/** The Claude Agent SDK with its own pause: a hook that defers the tool use, and allows it when the run is resumed. */
export const alone: AloneSubject = {
  name: "claude-agent-sdk alone",
  of: "claude-agent-sdk",
  open: (world) => hostOf(world),
};

interface AloneState extends State {
  /** Goes on in the session's own files: what a process that was killed has stored is what the next one finds. */
  readonly isKept: boolean;
}

function hostOf(world: World): AdapterHost {
  const optionsWith = (permissionDecision: "defer" | "allow"): Options => {
    const pay = tool("pay", world.description, INPUT, async (args) =>
      text(JSON.stringify(await world.pay(args as JsonObject))),
    );
    const decide: HookCallback = async () => {
      return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision } };
    };
    return {
      mcpServers: { shop: createSdkMcpServer({ name: "shop", tools: [pay] }) },
      allowedTools: ["mcp__shop__pay"],
      hooks: { PreToolUse: [{ matcher: "mcp__shop__pay", hooks: [decide] }] },
    };
  };
  const approve = async (state: string): Promise<Progress> => {
    const { isKept, ...from } = JSON.parse(state) as AloneState;
    const options = optionsWith("allow");
    const at = isKept ? { inPlace: true as const } : {};
    return progressOf(await runClaude(turns(world), { turns: [], from, options, ...at }));
  };
  return {
    send: async (calls) => {
      const tools = calls.map(({ id, tool: name, args }) => {
        return { id, name: `mcp__shop__${name}`, input: args };
      });
      const given = { turns: [{ tools }], text: "Pay.", options: optionsWith("defer") };
      const { state, ...paused } = progressOf(await runClaude(turns(world), given));
      const isKept = calls.some(({ args }) => args["hang"] === true);
      const kept: AloneState = { ...(JSON.parse(state) as State), isKept };
      return { ...paused, state: JSON.stringify(kept) };
    },
    resume: approve,
    forge: approve,
    cancel: async () => 0,
  };
}

/** Only for how a run gets its messages. Its hooks are replaced. */
function turns({ engine }: World): ClaudeGate {
  return createGate({ engine, app: "alone", thread: "alone" });
}
