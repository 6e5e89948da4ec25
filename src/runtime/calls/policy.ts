import { type Approvers, checkAsking, errorText } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";

/** A call as a rule sees it. */
export interface PolicyCall {
  readonly app: string;
  readonly agent: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly user: string;
}

/** What a rule says of a call. */
export interface PolicyVerdict {
  readonly outcome: "allow" | "confirm" | "deny";
  readonly reason: string;
  readonly approvers?: Approvers;
}

/**
 * Rules over all tools of an app. They run before the gate and, for `deny`, again when an approved call is
 * about to start; so they must answer at once and from what they are given. One that throws, or gives what is no
 * verdict, means `confirm`, and at the start of an approved call, `deny`. One that asks people whom nobody can be
 * (misspelt `approvers`, an empty list) means `deny`, with what is wrong with them as the reason.
 */
export type Policy = (call: PolicyCall) => PolicyVerdict | undefined;

const OUTCOMES: ReadonlySet<unknown> = new Set<PolicyVerdict["outcome"]>(["allow", "confirm", "deny"]);

/**
 * What the rules say of a call, if they say anything. A rule that throws, or answers with what is no verdict (a
 * promise, a misspelt outcome), has permitted nothing: `otherwise` it is.
 */
export function verdictOf(
  policy: Policy | undefined,
  call: PolicyCall,
  otherwise: "confirm" | "deny",
): PolicyVerdict | undefined {
  try {
    const verdict = policy?.(call);
    if (verdict === undefined) return undefined;
    const { outcome, reason, approvers } = verdict;
    if (OUTCOMES.has(outcome)) {
      const why = typeof reason === "string" ? reason : "a policy rule";
      const flaw = outcome === "confirm" && otherwise === "confirm" ? flawOf(approvers, why) : undefined;
      if (flaw !== undefined) return { outcome: "deny", reason: flaw };
      return { outcome, reason: why, ...(approvers === undefined ? {} : { approvers }) };
    }
    return { outcome: otherwise, reason: "a policy rule gave no verdict" };
  } catch {
    return { outcome: otherwise, reason: "a policy rule failed" };
  }
}

// Anybody else in their place would be somebody whom the rule did not name, and with nobody the card would wait for good.
function flawOf(approvers: Approvers | undefined, rule: string): string | undefined {
  try {
    checkAsking(`The policy rule "${rule}"`, approvers === undefined ? {} : { approvers });
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
