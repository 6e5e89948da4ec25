import type { JsonObject } from "../../protocol/index.ts";
import type { HookOutput } from "./host-types.ts";

const AMENDED = "An approver changed the input of this tool use. It runs with the changed input.";

/** Claude Code's own permissions decide. */
export const UNDECIDED: HookOutput = {};

export function denied(reason: string): HookOutput {
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: reason,
    },
  };
}

/** With the input that an approver has changed, if one has. */
export function allowed(changed?: JsonObject): HookOutput {
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
      ...(changed === undefined ? {} : { updatedInput: { ...changed }, additionalContext: AMENDED }),
    },
  };
}
