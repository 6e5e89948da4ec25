import type { Agent } from "./agent.ts";
import type { HookContext } from "./hooks.ts";

const STATE_REFERENCE = /\{([A-Za-z_][\w:]*)(\?)?\}/g;

/**
 * The agent's instruction for this step, with the state it names filled in. `{key}` stays as it is if the key is not in
 * state; `{key?}` is then removed.
 */
export async function instructionFor({ instruction }: Agent, ctx: HookContext): Promise<string> {
  if (typeof instruction === "function") return instruction(ctx);
  return instruction.replace(STATE_REFERENCE, (reference: string, key: string, optional?: string) => {
    const value = ctx.state.get(key);
    if (value === undefined) return optional === undefined ? reference : "";
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
