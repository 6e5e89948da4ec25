import type { Approvers, GateContext } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";

/** When people are asked about a tool's calls, and how. */
export interface ToolRule<Args> {
  /** True, or a function of the arguments; if it throws, a person is asked. False: only if a policy says so. Default: true. */
  readonly requireConfirmation?: boolean | ((args: Args, context: GateContext) => boolean | Promise<boolean>);
  /** The question to the approver. */
  readonly hint?: string | ((args: Args) => string);
  /** Default: the user whom the agent works for; without one, anybody who is logged in. */
  readonly approvers?: Approvers;
  readonly expiresInMs?: number;
  /** Which arguments an approver may change. */
  readonly amendable?: true | readonly string[];
  /** JSON pointers to arguments that only the tool may see. */
  readonly secrets?: readonly string[];
  /** Safe to run again with the same key, even concurrently: may be repeated after a crash. */
  readonly idempotent?: boolean;
}

/** The rule of a tool: `true` asks about every call. */
export type GivenRule<Args> = true | ToolRule<Args>;

/** The rules by tool name, checked: a misspelt name would leave a tool without a gate. */
export function checkRules(
  rules: { readonly [tool: string]: unknown },
  tools: { has(name: string): boolean },
): void {
  for (const [name, rule] of Object.entries(rules)) {
    if (rule === undefined) continue;
    if (!tools.has(name))
      throw new CountersignError(
        "invalid-option",
        `There is a rule for the tool "${name}", but no such tool.`,
      );
    if (rule !== true && (typeof rule !== "object" || rule === null))
      throw new CountersignError(
        "invalid-option",
        `The rule for the tool "${name}" must be true or an object.`,
      );
  }
}

/** Policies of the engine judge every call, also of tools without a rule of their own. */
export const ONLY_POLICY: ToolRule<unknown> = { requireConfirmation: false };
