import { createHash } from "node:crypto";
import { canonicalJson, type JsonObject } from "../../protocol/index.ts";
import type { Approval, ToolUse } from "./approval.ts";
import { type HookInput, type InputShape, readHookInput } from "./hook-input.ts";

/** What a hook prints on standard output; undefined: nothing, the agent's own rules decide. */
export type HookAnswer = JsonObject | undefined;

/** The hook protocol of one coding agent. */
export interface HookProtocol {
  readonly title: string;
  /** How long the hook waits by default: less than the agent's own default limit, after which it would go on. */
  readonly waitMs: number;
  /** The agent can end its run at an open question, and go on from there when it is resumed. */
  readonly defers?: true;
  read(text: string, ignored: readonly string[]): ToolUse;
  /** Throws nothing: whatever the approval is, there is an answer. */
  answer(approval: Approval, use: ToolUse): HookAnswer;
}

const COMMON = ["session_id", "transcript_path", "cwd", "hook_event_name", "tool_name", "tool_input"];
const AMENDED = "The approver changed the input of this tool use. It runs with the changed input.";

const CLAUDE: InputShape = {
  agentTitle: "Claude Code",
  event: "PreToolUse",
  members: [
    ...COMMON,
    "tool_use_id",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "effort",
    "mcp_server",
  ],
};

const CODEX: InputShape = {
  agentTitle: "Codex",
  event: "PreToolUse",
  members: [...COMMON, "tool_use_id", "turn_id", "agent_id", "agent_type", "model", "permission_mode"],
};

const GEMINI: InputShape = {
  agentTitle: "Gemini CLI",
  event: "BeforeTool",
  members: [...COMMON, "timestamp", "mcp_context", "original_request_name"],
};

/** The agents whose documented hooks can block a tool. */
export const HOOK_PROTOCOLS: ReadonlyMap<string, HookProtocol> = new Map<string, HookProtocol>([
  [
    "claude-code",
    {
      title: CLAUDE.agentTitle,
      // Claude Code lets the tool run after 600 s, unless the hook has `onFailure: "block"`.
      waitMs: 540_000,
      defers: true,
      read: (text, ignored) => byToolUse("claude-code", readHookInput(text, CLAUDE, ignored)),
      answer: (approval) => preToolUse(approval, { saysAllow: true }),
    },
  ],
  [
    "codex",
    {
      title: CODEX.agentTitle,
      // Codex lets the tool run after 600 s.
      waitMs: 540_000,
      read: (text, ignored) => byToolUse("codex", readHookInput(text, CODEX, ignored)),
      // Codex takes a bare "allow" for an error, and the tool runs.
      answer: (approval) => preToolUse(approval, { saysAllow: false }),
    },
  ],
  [
    "gemini-cli",
    {
      title: GEMINI.agentTitle,
      // Gemini CLI lets the tool run after 60 s.
      waitMs: 45_000,
      read: (text, ignored) => byTime(readHookInput(text, GEMINI, ignored)),
      answer: beforeTool,
    },
  ],
]);

function byToolUse(agent: string, { session, tool, input, cwd, text }: HookInput): ToolUse {
  return { key: keyOf(agent, session, text("tool_use_id")), thread: keyOf(agent, session), tool, input, cwd };
}

// Gemini CLI gives a tool use no id. Hooks of one tool use have the same time.
function byTime({ session, tool, input, cwd, text }: HookInput): ToolUse {
  const agent = "gemini-cli";
  const digest = createHash("sha256")
    .update(canonicalJson([tool, input]))
    .digest("base64url");
  return {
    key: keyOf(agent, session, text("timestamp"), digest),
    thread: keyOf(agent, session),
    tool,
    input,
    cwd,
  };
}

function keyOf(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join(":");
}

function preToolUse(approval: Approval, { saysAllow }: { readonly saysAllow: boolean }): HookAnswer {
  const hookEventName = "PreToolUse";
  if (approval.kind === "unasked") return undefined;
  if (approval.kind === "open") return { hookSpecificOutput: { hookEventName, permissionDecision: "defer" } };
  if (approval.kind === "refused") {
    const permissionDecisionReason = approval.reason;
    return {
      hookSpecificOutput: { hookEventName, permissionDecision: "deny", permissionDecisionReason },
    };
  }
  if (!saysAllow && !approval.amended) return undefined;
  return {
    hookSpecificOutput: {
      hookEventName,
      permissionDecision: "allow",
      ...(saysAllow ? { permissionDecisionReason: "allowed by Countersign" } : {}),
      ...(approval.amended ? { updatedInput: approval.input, additionalContext: AMENDED } : {}),
    },
  };
}

function beforeTool(approval: Approval, { input }: ToolUse): HookAnswer {
  if (approval.kind === "refused") return { decision: "deny", reason: approval.reason };
  if (approval.kind === "open") return { decision: "deny", reason: "Nobody has decided yet." };
  if (approval.kind === "unasked" || !approval.amended) return {};
  // Gemini CLI adds the changed members to the model's.
  const removed = Object.keys(input).find((name) => !Object.hasOwn(approval.input, name));
  if (removed !== undefined) {
    const reason = `The approver removed "${removed}" from the input, which Gemini CLI cannot do. Ask again without it.`;
    return { decision: "deny", reason };
  }
  return {
    hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: approval.input },
    systemMessage: AMENDED,
  };
}
